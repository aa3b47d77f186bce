// Runs the first command and the first example of each installed package's README, and compares what they print. Part of check-packages.
import { execFile } from 'node:child_process';
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { startRayHead } from '../../packages/ray-client-ts/test/support/ray-head.ts';
import { startInstallation } from '../../test/support/dashboard.ts';
import { codeOf } from '../../test/support/packed.ts';
import { withNode } from './installed.ts';

const run = promisify(execFile);

interface Home {
  name: string;
  /** The program of Node. */
  node: string;
  home: string;
}

await using resources = new AsyncDisposableStack();
const { url, token } = await startInstallation(resources);
const head = resources.use(await startRayHead({ numCpus: 2 }));

/** For each package: what its commands and examples need, and what they print. */
const PACKAGES: Record<
  string,
  { prepare?: (home: string) => void; env?: NodeJS.ProcessEnv; command?: RegExp; example: RegExp }
> = {
  'echelon-verify': {
    prepare(home) {
      cpSync('test/golden/dumps/trl/group', join(home, 'outputs'), { recursive: true });
      cpSync('test/golden/hgpo.json', join(home, 'dump.json'));
    },
    command: /3 of 3 batches ok; 48 rows: 48 exact, 0 rounding, 0 wrong, 0 unverifiable/,
    example: /^(?:\S.* ok \d+ 0\n){45}$/,
  },
  'ray-client-ts': { env: { ...head.environment, RAY_ADDRESS: head.address }, example: /^42\n$/ },
  'echelon-client': {
    env: { ECHELON_URL: url, ECHELON_TOKEN: token },
    example: /^state\n(?:[a-z-]+\n)*ended\n(?:[a-z-]+\n)*$/,
  },
};

function expect(text: string, wanted: RegExp, what: string): void {
  if (!wanted.test(text)) throw new Error(`${what} printed ${JSON.stringify(text)}, not ${wanted}`);
}

async function runReadme({ name, node, home }: Home): Promise<void> {
  const { prepare, env, command, example } = PACKAGES[name]!;
  const readme = readFileSync(join(home, 'node_modules', name, 'README.md'), 'utf8');
  prepare?.(home);
  const options = { cwd: home, env: { ...withNode(node), ...env }, timeout: 180_000 };
  const started = Date.now();
  if (command !== undefined) {
    const { stdout } = await run('sh', ['-c', codeOf(readme, 'sh')[0]!], options);
    expect(stdout, command, `the command of ${name} on ${node}`);
  }
  const program = codeOf(readme, 'ts')[0]!;
  writeFileSync(join(home, 'example.mjs'), stripTypeScriptTypes(program));
  const { stdout } = await run(node, ['example.mjs'], options);
  expect(stdout, example, `the example of ${name} on ${node}`);
  const { stdout: version } = await run(node, ['--version']);
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log(`${name} on Node ${version.trim()}: its README's command and example run in ${seconds} s`);
}

/** The examples fit the declarations of the installed package. */
async function checkTypes({ name, home }: Home): Promise<void> {
  const readme = readFileSync(join(home, 'node_modules', name, 'README.md'), 'utf8');
  writeFileSync(join(home, 'example.mts'), codeOf(readme, 'ts')[0]!);
  const types = join(home, 'node_modules/@types');
  // A dependency may have brought them.
  if (!existsSync(types)) symlinkSync(resolve('node_modules/@types'), types);
  const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
  await run(process.execPath, [resolve('node_modules/typescript/bin/tsc'), ...flags, 'example.mts'], {
    cwd: home,
  });
  console.log(`${name}: its README's example fits its types`);
}

const homes = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Home[];
for (const home of homes) await runReadme(home);
for (const home of homes.filter(({ node }) => node === process.execPath)) await checkTypes(home);
