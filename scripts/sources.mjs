// Makes the sources that are not in the repository: the folders gen, from the protobuf files and the routes. Set-up and the build run
// this; a folder whose inputs are unchanged is left alone. Plain JavaScript, because set-up imports it, see setup.mjs.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The encoders of proto/: plain encode and decode, no reflection. */
const PBJS = [
  ...['--target', 'static-module', '--wrap', 'esm', '--es6', '--force-number'],
  ...['--no-create', '--no-verify', '--no-convert', '--no-delimited', '--no-typeurl', '--no-service'],
];
const PROTO_TOOLS = ['scripts/sources.mjs', 'node_modules/protobufjs-cli/package.json'];

const API_DOCUMENT = 'scripts/sources/api-document.ts';

/** The batch format in Python, which the packages echelon-capture and echelon-verify each contain. */
const FORMAT = 'deploy/capture/echelon_capture/format';

const DASHBOARD_INPUTS = [
  'node_modules/vite/package.json',
  'node_modules/preact/package.json',
  'node_modules/yaml/package.json',
  'proto/echelon/batch/v1',
  ...['client', 'dashboard', 'verify'].map((name) => `packages/echelon-${name}/src`),
  'packages/command-kit/src',
  'packages/ray-client-ts/src/pickle',
];

/** Each generated folder, what it is made from, and its generator. Only changed inputs make it anew. */
const FOLDERS = {
  'packages/ray-client-ts/src/gen': stubs(
    'ray-client',
    ['--keep-case'],
    ['packages/ray-client-ts/proto/ray_client.proto'],
  ),
  'src/rpc/gen': stubs(
    'ray-worker',
    [],
    ['proto/echelon/rayworker/v1/rayworker.proto', 'proto/grpc/health/v1/health.proto'],
  ),
  'packages/echelon-verify/src/gen': stubs(
    'batch',
    [],
    ['proto/echelon/batch/v1/batch.proto', 'proto/echelon/batch/v1/step.proto'],
  ),
  // After the others, because they are made from them.
  'src/http/gen': {
    inputs: ['package.json', API_DOCUMENT, 'src', 'packages/echelon-verify/src'],
    files: ['openapi.json'],
    make: (folder) => node([API_DOCUMENT, join(folder, 'openapi.json')]),
  },
  'packages/echelon-client/src/gen': {
    inputs: [
      'src/http/gen/openapi.json',
      'scripts/sources/client-types.ts',
      'scripts/sources/schema-types.ts',
      'src/engines/local/estimator-fields.ts',
      'packages/echelon-verify/src/kernel/estimators',
    ],
    files: ['api.ts'],
    make: makeClientTypes,
  },
  'packages/echelon-dashboard/src/gen': {
    inputs: ['build.ts', 'build-report.ts']
      .map((file) => `packages/echelon-dashboard/${file}`)
      .concat(DASHBOARD_INPUTS),
    files: ['index.html', 'comparison.html', 'THIRD-PARTY.md'],
    make: makeDashboard,
  },
  'packages/echelon-verify/src/html/gen': {
    inputs: ['packages/echelon-dashboard/build-report.ts', ...DASHBOARD_INPUTS],
    files: ['page.js', 'page.d.ts'],
    make: makeReportPage,
  },
  'deploy/python/echelon_verify/gen': {
    inputs: [
      'scripts/bundle.ts',
      'packages/echelon-dashboard/build-report.ts',
      ...DASHBOARD_INPUTS,
      'packages/ray-client-ts/src/errors.ts',
      FORMAT,
    ],
    files: ['echelon-verify.mjs', 'frames.mjs', 'THIRD-PARTY.md', 'format/__init__.py'],
    make: makePythonBundle,
  },
};

const stampOf = (folder) => join(root, folder, '.inputs');

function digestOf({ inputs }) {
  const hash = createHash('sha256');
  for (const file of inputs.flatMap(filesOf))
    hash.update(`${file}\0${readFileSync(join(root, file), 'utf8')}\0`);
  return hash.digest('hex');
}

/** The files of a folder; a file itself; none if it is not made yet. */
function filesOf(input) {
  if (!existsSync(join(root, input))) return [];
  if (!statSync(join(root, input)).isDirectory()) return [input];
  return readdirSync(join(root, input))
    .filter((name) => name !== 'gen' && name !== '__pycache__')
    .sort()
    .flatMap((name) => filesOf(join(input, name)));
}

/** True for a folder whose files are there and were made from its inputs as they are now. */
function isCurrent(folder) {
  const stamp = stampOf(folder);
  const isWhole = FOLDERS[folder].files.every((file) => existsSync(join(root, folder, file)));
  return isWhole && existsSync(stamp) && readFileSync(stamp, 'utf8') === digestOf(FOLDERS[folder]);
}

/** The generated folders that are absent or out of date. */
export const staleSources = () => Object.keys(FOLDERS).filter((folder) => !isCurrent(folder));

async function makeClientTypes(folder) {
  const { clientTypes } = await import('./sources/client-types.ts');
  const document = JSON.parse(readFileSync(join(root, 'src/http/gen/openapi.json'), 'utf8'));
  writeFileSync(join(folder, 'api.ts'), clientTypes(document));
}

async function makeDashboard(folder) {
  const { buildDashboard } = await import('../packages/echelon-dashboard/build.ts');
  await buildDashboard(folder);
  const { buildComparisonPage } = await import('../packages/echelon-dashboard/build-report.ts');
  await buildComparisonPage(folder);
}

/** The programs and the batch format inside of the Python package echelon-verify. */
async function makePythonBundle(folder) {
  const { bundle } = await import('./bundle.ts');
  const entries = {
    'echelon-verify': 'packages/echelon-verify/src/cli/main.ts',
    frames: 'packages/echelon-verify/src/frames/main.ts',
  };
  await bundle({ entries, to: folder });
  cpSync(join(root, FORMAT), join(folder, 'format'), {
    recursive: true,
    filter: (file) => !file.includes('__pycache__'),
  });
}

async function makeReportPage(folder) {
  const { buildReportPage } = await import('../packages/echelon-dashboard/build-report.ts');
  await buildReportPage(folder);
}

function stubs(name, options, protos) {
  const make = (folder) => {
    const scratch = mkdtempSync(join(tmpdir(), 'echelon-stubs-'));
    try {
      // The types need the comments, from which pbjs reads them; the code does not. Hence two passes.
      pbjs([...options, '--root', name, '--dts', '--out', join(scratch, `${name}.js`), ...protos]);
      copyFileSync(join(scratch, `${name}.d.ts`), join(folder, `${name}.d.ts`));
      pbjs([...options, '--root', name, '--no-comments', '--out', join(folder, `${name}.js`), ...protos]);
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  };
  return { inputs: [...PROTO_TOOLS, ...protos], files: [`${name}.d.ts`, `${name}.js`], make };
}

function pbjs(args) {
  node(['node_modules/protobufjs-cli/bin/pbjs', ...PBJS, ...args]);
}

/** Runs a program in a process of its own. */
function node(args) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`${args[0]} ended with ${status}`);
}

/**
 * Makes the generated folders of `only` that are absent or out of date. Default: all. Needs Node 24, for the parts in TypeScript.
 */
export async function makeSources(only = Object.keys(FOLDERS)) {
  for (const folder of Object.keys(FOLDERS).filter((one) => only.includes(one))) {
    if (isCurrent(folder)) continue; // asked only now: the folders before it are inputs of some
    const path = join(root, folder);
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path, { recursive: true });
    await FOLDERS[folder].make(path);
    writeFileSync(stampOf(folder), digestOf(FOLDERS[folder]));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const named = process.argv.slice(2);
  await makeSources(named.length > 0 ? named : undefined);
}
