import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';

/** What each module of `src` may import of the others. */
const MAY_IMPORT: Record<string, string[]> = {
  core: [],
  config: ['core'],
  observe: ['core'],
  schemas: ['core'],
  engines: ['core', 'schemas'],
  plan: ['core', 'schemas', 'engines'],
  store: ['core', 'schemas'],
  queue: ['core'],
  scheduler: ['core', 'schemas', 'store'],
  rpc: ['core'],
  dispatch: ['core', 'schemas', 'engines', 'plan', 'store', 'queue', 'scheduler', 'rpc'],
  http: ['core', 'schemas', 'engines', 'plan', 'store', 'queue', 'scheduler'],
  cli: ['core', 'schemas', 'engines', 'plan'],
};

const sources = globSync('{src,packages/*/src}/**/*.{ts,tsx}').filter(
  (file) => !file.includes('/gen/') && !file.endsWith('.d.ts'),
);
/** A folder of `src`, or the name of a package. */
const moduleOf = (file: string): string => file.split('/')[1]!.replace(/\.ts$/, '');
const isOfPackage = (file: string): boolean => file.startsWith('packages/');

interface Import {
  from: string;
  to: string;
  dynamic: boolean;
}

const PATTERN =
  /(?:^|\n)\s*(import|export)\s[^;'"]*?from\s+['"]([^'"]+)['"]|(?:^|\n)\s*import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g;

function importsOf(file: string): Import[] {
  const found: Import[] = [];
  for (const match of readFileSync(file, 'utf8').matchAll(PATTERN)) {
    const target = match[2] ?? match[3] ?? match[4]!;
    const to = target.startsWith('.') ? relative('.', join(dirname(file), target)) : target;
    found.push({ from: file, to, dynamic: match[4] !== undefined });
  }
  return found;
}

const imports = sources.flatMap(importsOf);

test('the pattern finds imports of every kind', () => {
  assert.ok(imports.length > 100);
  // This file holds a type alone.
  assert.ok(imports.some(({ to }) => to === 'src/dispatch/log.ts'));
  assert.ok(imports.some(({ dynamic }) => dynamic));
});

test('modules import only what the table allows', () => {
  const broken = imports.filter(({ from, to, dynamic }) => {
    if (!to.startsWith('src/')) return false;
    const [source, target] = [moduleOf(from), moduleOf(to)];
    if (source === 'main' || source === target) return false;
    if (source === 'cli' && target === 'main' && dynamic) return false;
    return !MAY_IMPORT[source]?.includes(target);
  });
  assert.deepEqual(
    broken.map(({ from, to }) => `${from} imports ${to}`),
    [],
  );
});

/** The packages that a manifest states; a package's `src` is built with what its `devDependencies` name, too. */
function statedIn(directory: string): Set<string> {
  const { name, dependencies, devDependencies } = JSON.parse(
    readFileSync(join(directory, 'package.json'), 'utf8'),
  ) as { name: string; dependencies?: object; devDependencies?: object };
  return new Set([name, ...Object.keys({ ...dependencies, ...devDependencies })]);
}

test('src and each package import only the packages that their manifests state', () => {
  const stated = new Map([['.', statedIn('.')]]);
  for (const file of globSync('packages/*/package.json')) stated.set(dirname(file), statedIn(dirname(file)));
  const missing = imports.filter(({ from, to }) => {
    if (isBuiltin(to) || /^(?:src|packages)\//.test(to)) return false;
    const name = to
      .split('/')
      .slice(0, to.startsWith('@') ? 2 : 1)
      .join('/');
    return !stated.get(isOfPackage(from) ? from.split('/').slice(0, 2).join('/') : '.')!.has(name);
  });
  assert.deepEqual(
    missing.map(({ from, to }) => `${from} imports ${to}`),
    [],
  );
});

test('no package reaches another package or src through a path', () => {
  const reaching = imports.filter(
    ({ from, to }) =>
      isOfPackage(from) && /^(?:src|packages|\.\.)\//.test(to) && moduleOf(to) !== moduleOf(from),
  );
  assert.deepEqual(reaching, []);
});

/** The folders of echelon-verify, and the files at its root, in the order in which they may import each other: only earlier ones. */
const VERIFIER_ORDER = [
  ...[
    'arithmetic',
    'base',
    'report',
    'kernel/sets',
    'kernel/stages',
    'kernel',
    'kernel/estimators',
    'format',
  ],
  ...['bounds', 'provenance', 'identify', 'step/losses', 'step/engines', 'step/model', 'step/stages', 'step'],
  ...[
    'identify/steps',
    'explain',
    'dumps',
    'dumps/steps',
    'run-folder',
    'verify',
    'html',
    'pool',
    'frames',
    'cli',
  ],
  ...['browser/node', 'browser', ''],
];

test('the folders of echelon-verify import only folders below them', () => {
  const root = 'packages/echelon-verify/src';
  const floorOf = (file: string): number => VERIFIER_ORDER.indexOf(relative(root, dirname(file)));
  const own = imports.filter(
    ({ from, to }) => from.startsWith(`${root}/`) && to.startsWith(`${root}/`) && !to.includes('/gen/'),
  );
  assert.ok(own.length > 100);
  const up = own.filter(({ from, to }) => floorOf(to) > floorOf(from) || floorOf(to) < 0);
  assert.deepEqual(
    up.map(({ from, to }) => `${from} imports ${to}`),
    [],
  );
});

test('only src/engines imports from the folder of one engine', () => {
  const outside = imports.filter(
    ({ from, to }) => /^src\/engines\/[^/]+\//.test(to) && moduleOf(from) !== 'engines',
  );
  assert.deepEqual(
    outside.map(({ from, to }) => `${from} imports ${to}`),
    [],
  );
});

test('every folder of src is in the table', () => {
  const folders = new Set(sources.filter((file) => !isOfPackage(file)).map(moduleOf));
  assert.deepEqual(
    [...folders].filter((name) => name !== 'main' && !(name in MAY_IMPORT)),
    [],
  );
});

test('no import of code or of a type is part of a cycle', () => {
  const edges = new Map<string, string[]>();
  for (const { from, to } of imports) edges.set(from, [...(edges.get(from) ?? []), to]);
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    assert.ok(!path.includes(file), `cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
    if (done.has(file)) return;
    path.push(file);
    for (const next of edges.get(file) ?? []) visit(next);
    path.pop();
    done.add(file);
  };
  for (const file of sources) visit(file);
});

test('no two folders import each other, unless one is in the other', () => {
  const edges = new Set<string>();
  for (const { from, to } of imports) edges.add(`${dirname(from)} ${dirname(to)}`);
  const circles = [...edges].filter((edge) => {
    const [from, to] = edge.split(' ') as [string, string];
    const isWithin = `${from}/`.startsWith(`${to}/`) || `${to}/`.startsWith(`${from}/`);
    return !isWithin && edges.has(`${to} ${from}`);
  });
  assert.deepEqual(circles, []);
});

test('generated code is imported only by its own module', () => {
  const foreign = imports.filter(({ from, to }) => to.includes('/gen/') && moduleOf(from) !== moduleOf(to));
  assert.deepEqual(foreign, []);
});

test('no file imports a barrel of another module', () => {
  const barrels = imports.filter(({ from, to }) => to.endsWith('/index.ts') && from.startsWith('src/'));
  assert.deepEqual(
    barrels.map(({ from, to }) => `${from} imports ${to}`),
    [],
  );
});

test('only src/config reads the environment', () => {
  const readers = sources.filter(
    (file) => moduleOf(file) !== 'config' && /process\.env\b/.test(readFileSync(file, 'utf8')),
  );
  assert.deepEqual(readers, []);
});

test('no source file is longer than 500 lines', () => {
  const large = sources.filter((file) => readFileSync(file, 'utf8').split('\n').length > 500);
  assert.deepEqual(large, []);
});

/** Lines of each function that is excepted from Biome's limit: up to the brace at the indentation of its first line. */
function exceptedFunctions(file: string): { file: string; length: number }[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((line, at) => {
    const indent = /^( *)\/\/ biome-ignore lint\/complexity\/noExcessiveLinesPerFunction/.exec(line)?.[1];
    if (indent === undefined) return [];
    const end = lines.findIndex((one, index) => index > at && new RegExp(`^${indent}}[^{]*$`).test(one));
    return [{ file, length: end - at }];
  });
}

// Biome allows 40 lines. Lower these numbers when an exception goes.
test('at most 5 functions are excepted from the limit of Biome, and none has more than 100 lines', () => {
  const excepted = sources.flatMap(exceptedFunctions);
  assert.ok(excepted.length <= 5, excepted.map(({ file, length }) => `${file}: ${length} lines`).join('\n'));
  assert.deepEqual(
    excepted.filter(({ length }) => length < 40 || length > 100),
    [],
  );
});
