import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';

const RUNNER = resolve('scripts/test.ts');

/** Runs the test command on a folder with these test files. */
async function run(
  t: TestContext,
  files: Record<string, string>,
  args: string[] = [],
): Promise<{ status: number; output: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'runner-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  await mkdir(join(directory, 'test/pure'), { recursive: true });
  for (const [name, text] of Object.entries(files))
    await writeFile(join(directory, 'test/pure', `${name}.test.ts`), text);
  const python = resolve('.venv/bin/python');
  const env = { ...process.env, ECHELON_ISOLATED: '1', ECHELON_PYTHON: python };
  return new Promise((done) => {
    execFile(process.execPath, [RUNNER, ...args], { cwd: directory, env }, (error, stdout, stderr) =>
      done({ status: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    );
  });
}

const PASSES = `import { test } from 'node:test'; test('passes', () => {});`;

test('the command prints its help without running a test', async (t) => {
  const { status, output } = await run(t, { passes: PASSES }, ['--help']);
  assert.equal(status, 0);
  assert.match(output, /^usage: npm test/);
  assert.doesNotMatch(output, /passed/);
});

test('counts, reasons of skipped tests and failures with their command stand at the end', async (t) => {
  const { status, output } = await run(t, {
    fails: `import { test } from 'node:test';
      test('compares', () => { console.log('a trace'); throw new Error('one is not two'); });`,
    passes: PASSES,
    skips: `import { test } from 'node:test'; test('waits', { skip: 'needs a GPU' }, () => {});`,
    throws: `throw new Error('this file cannot be loaded');`,
    exits: `import { test } from 'node:test'; test('leaves', () => process.exit(7));`,
  });
  assert.equal(status, 1);
  assert.equal(output.trimEnd().split('\n').at(-1), '1 passed, 3 failed, 1 skipped');
  assert.match(output, /^skipped 1: needs a GPU$/m);
  for (const text of [
    /^FAILED test\/pure\/fails\.test\.ts:2 compares\n.*\n {4}one is not two$/m,
    /^ {4}a trace$/m,
    /^ {2}repeat: npm test -- test\/pure\/fails\.test\.ts$/m,
    /this file cannot be loaded/,
    /^ {4}its process ended with 7$/m,
  ])
    assert.match(output, text);
});

const LEAKS: Record<string, [source: string, left: RegExp]> = {
  process: [
    `import { spawn } from 'node:child_process';
     test('spawns', () => { spawn('sleep', ['600'], { stdio: 'ignore', detached: true }).unref(); });`,
    /process\.test\.ts spawns: leaves something\n {4}left: process \d+ \(sleep 600\)/,
  ],
  port: [
    `import { createServer } from 'node:net';
     test('listens', async () => { await new Promise((done) => createServer().listen(0, '127.0.0.1', done).unref()); });`,
    /left: port \d+/,
  ],
  folder: [
    `import { mkdtempSync } from 'node:fs'; import { tmpdir } from 'node:os';
     test('before', () => {});
     test('writes', () => { mkdtempSync(tmpdir() + '/forgotten-'); });`,
    /folder\.test\.ts writes: leaves something\n {4}left: temporary file forgotten-/,
  ],
  handle: [`test('waits', () => { setInterval(() => {}, 1_000); });`, /left: open handle interval/],
  variable: [`test('sets', () => { process.env.FORGOTTEN = '1'; });`, /left: environment variable FORGOTTEN/],
  environment: [
    `test('replaces', () => { process.env = { ...process.env }; });`,
    /left: another object as process.env/,
  ],
};

test('a test that leaves a process, a port, a file, a handle or a variable fails by name', async (t) => {
  const files = Object.entries(LEAKS).map(([name, [source]]) => [
    name,
    `import { test } from 'node:test';\n${source}`,
  ]);
  const { status, output } = await run(t, { ...Object.fromEntries(files), passes: PASSES });
  assert.equal(status, 1);
  for (const [name, [, left]] of Object.entries(LEAKS)) assert.match(output, left, name);
  assert.equal(output.trimEnd().split('\n').at(-1), '8 passed, 6 failed, 0 skipped');
});

test('files that failed are what the option --left runs', async (t) => {
  const { output } = await run(t, { passes: PASSES }, ['--left']);
  assert.match(output, /The last run left no file/);
});
