import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileCommands } from 'echelon-verify/cli';
import { BUGS, batchOf } from '../../../scripts/gallery/bugs.ts';
import { STEP_BUGS, stepFileOf } from '../../../scripts/gallery/steps.ts';
import { causeIn } from '../../../scripts/pages/gallery.ts';
import { runCommand } from '../../support/cli.ts';

const page = readFileSync('docs/gallery/index.md', 'utf8');

/** What a command on files prints, and its exit status. */
async function echelon(...args: string[]): Promise<{ status: unknown; stdout: string }> {
  let stdout = '';
  const before = process.exitCode;
  try {
    const write = (text: string) => {
      stdout += text;
    };
    await runCommand(fileCommands({ stdout: { write }, stderr: { write } }), args);
    return { status: process.exitCode, stdout };
  } finally {
    process.exitCode = before;
  }
}

/** The row of a bug on the page: the last line of verify, the command that shows the cause, and the cause. */
function rowOf({ name, link }: { name: string; link: string }) {
  const row = page.split('\n').find((line) => line.includes(`](${name}.json)`))!;
  assert.ok(row.includes(`](${link}) |`), name);
  const [counts, last] = row.split(' | ').slice(-2);
  const [, command, cause] = /^`(.+?)`: (.+) \|$/.exec(last!)!;
  const [word, ...options] = command!.split(' ');
  return { counts: counts!, command: [word!, `docs/gallery/${name}.json`, ...options], cause: cause! };
}

/** A file of the right version, which is removed after the test. */
function rightFile(t: TestContext, content: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'echelon-gallery-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const right = join(folder, 'right.json');
  writeFileSync(right, JSON.stringify(content));
  return right;
}

const same = (file: string, content: object) =>
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), JSON.parse(JSON.stringify(content)));

test('the gallery has ten bugs of advantages and ten of steps, each with a thread of its own', () => {
  const all = [...BUGS, ...STEP_BUGS];
  assert.equal(new Set(all.map(({ link }) => link)).size, 20);
});

for (const bug of BUGS) {
  test(`${bug.title}: the verifier finds the mistake, its command shows the cause, and right advantages pass`, async (t) => {
    const file = `docs/gallery/${bug.name}.json`;
    same(file, batchOf(bug, 'wrong'));
    const { counts, command, cause } = rowOf(bug);
    const found = await echelon('verify', file);
    assert.equal(found.stdout.trim().split('\n').at(-1), counts);
    assert.equal(found.status, bug.row === undefined ? 1 : 0, found.stdout);
    assert.match(found.stdout, bug.row === undefined ? /error {3}wrong-rows/ : /warning rounding-rows/);
    assert.equal(causeIn((await echelon(...command)).stdout), cause);
    const right = rightFile(t, batchOf(bug, 'right'));
    const passed = await echelon('verify', right);
    assert.equal(passed.status, 0, passed.stdout);
    assert.match(passed.stdout, / 0 rounding, 0 wrong, 0 unverifiable/);
  });
}

for (const bug of STEP_BUGS) {
  test(`${bug.title}: the step is not ok or has a finding, its command shows the cause, and the right step passes`, async (t) => {
    const file = `docs/gallery/${bug.name}.json`;
    same(file, stepFileOf(bug, 'wrong'));
    const { counts, command, cause } = rowOf(bug);
    const found = await echelon('verify', '--require', 'gradient', file);
    assert.equal(found.stdout.trim().split('\n').at(-1), counts);
    assert.equal(found.status, bug.status ?? 1, found.stdout);
    if (bug.status === 3) assert.match(found.stdout, /warning [a-z-]+/);
    assert.equal(causeIn((await echelon(...command)).stdout), cause);
    const right = rightFile(t, stepFileOf(bug, 'right'));
    const passed = await echelon('verify', '--require', 'gradient', right);
    assert.equal(passed.status, 0, passed.stdout);
    assert.doesNotMatch(passed.stdout, /warning|error/);
  });
}
