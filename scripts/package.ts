// Makes the tarball of one of the packages in packages/: npm run package -- NAME [--to DIRECTORY]
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** The parts of a package.json that matter here. */
interface Manifest {
  version: string;
  bin?: Record<string, string>;
  exports?: Record<string, { default: string } | string>;
  dependencies: Record<string, string>;
}

const root = resolve(import.meta.dirname, '..');
const read = (file: string): Manifest => JSON.parse(readFileSync(join(root, file), 'utf8')) as Manifest;

function fail(message: string): never {
  process.stderr.write(`package: ${message}\n`);
  process.exit(1);
}

function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) fail(`\`${command} ${args.join(' ')}\` failed: ${error?.message ?? stdout}`);
  return stdout;
}

/** The sources that the package's entry points are made from, and the program that the verifier’s pool starts. */
function entriesOf({ bin = {}, exports = {} }: Manifest): string[] {
  const files = [
    ...Object.values(bin),
    ...Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : [entry.default])),
  ];
  const entries = files.map((file) => file.replace('./dist/', 'src/').replace(/\.js$/, '.ts'));
  return entries.includes('src/verify/index.ts') ? [...entries, 'src/verify/pool/child-main.ts'] : entries;
}

/** Compiles what the entry points reach; generated JavaScript, which the compiler does not emit, is copied beside it. */
function compile(entries: readonly string[], to: string): void {
  const config = join(root, `.cache/tsconfig.${process.pid}.json`);
  const options = { rootDir: '../src', outDir: join(to, 'dist') };
  mkdirSync(join(root, '.cache'), { recursive: true });
  writeFileSync(
    config,
    JSON.stringify({
      ...{ extends: '../tsconfig.build.json', compilerOptions: options, include: [] },
      files: entries.map((entry) => `../${entry}`),
    }),
  );
  run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', config], root);
  rmSync(config);
  for (const file of globSync('src/*/gen/*.{js,d.ts}', { cwd: root })) {
    const folder = join(to, 'dist', file.split('/')[1]!);
    if (globSync(`${folder}/*.js`).length === 0) continue;
    cpSync(join(root, file), join(to, file.replace(/^src/, 'dist')), { recursive: true });
  }
}

/** The packages that the compiled files import. */
function importedBy(to: string): Set<string> {
  const names = new Set<string>();
  for (const file of globSync(`${to}/dist/**/*.js`)) {
    for (const [, name] of readFileSync(file, 'utf8').matchAll(
      /(?<!-)\b(?:from|import)\s*\(?\s*["']([^."'][^"']*)["']/g,
    )) {
      if (!isBuiltin(name!))
        names.add(
          name!
            .split('/')
            .slice(0, name!.startsWith('@') ? 2 : 1)
            .join('/'),
        );
    }
  }
  return names;
}

function manifestOf(name: string, imported: ReadonlySet<string>): Manifest {
  const manifest = read(`packages/${name}/package.json`);
  const { version, dependencies: pinned } = read('package.json');
  const stated = Object.keys(manifest.dependencies).sort();
  if (stated.join() !== [...imported].sort().join())
    fail(
      `packages/${name}/package.json names ${stated.join(', ')}, but its code imports ${[...imported].sort().join(', ')}`,
    );
  const dependencies = Object.fromEntries(stated.map((dependency) => [dependency, pinned[dependency]!]));
  return { ...manifest, version, dependencies };
}

const { values, positionals } = parseArgs({ options: { to: { type: 'string' } }, allowPositionals: true });
const known = readdirSync(join(root, 'packages'));
const [name = ''] = positionals;
if (!known.includes(name)) fail(`name one of the packages: ${known.join(', ')}`);
const stage = mkdtempSync(join(tmpdir(), `${name}-`));
process.on('exit', () => rmSync(stage, { recursive: true, force: true }));
compile(entriesOf(read(`packages/${name}/package.json`)), stage);
writeFileSync(
  join(stage, 'package.json'),
  `${JSON.stringify(manifestOf(name, importedBy(stage)), null, 2)}\n`,
);
cpSync(join(root, `packages/${name}/README.md`), join(stage, 'README.md'));
cpSync(join(root, 'LICENSE'), join(stage, 'LICENSE'));
for (const file of globSync(`${stage}/dist/cli/*-main.js`)) chmodSync(file, 0o755);
const to = resolve(values.to ?? '.');
const [packed] = JSON.parse(
  run('npm', ['pack', '--json', '--loglevel=error', '--pack-destination', to], stage),
) as [{ filename: string; unpackedSize: number }];
process.stdout.write(`${join(to, packed.filename)}\n`);
