import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileCommands } from 'echelon-verify/cli';
import { BUGS, batchOf } from '../../../scripts/gallery/bugs.ts';
import { STEP_BUGS, stepFileOf } from '../../../scripts/gallery/steps.ts';
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

/** What the page says about the file of a bug: the last line of verify, the second command, and its output. */
function sectionOf(file: string): { counts: string; command: string; shown: string } {
  const found = new RegExp(
    `\\$ echelon verify ${file} .*\\n(.+)\\n\\$ echelon ((?:explain|identify|verify) .+)\\n([^]*?)\\n\`\`\``,
  ).exec(page)!;
  return { counts: found[1]!, command: found[2]!, shown: found[3]!.trim() };
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
  for (const { link, name } of all) assert.ok(page.includes(`[Thread](${link}), [file](${name}.json)`), name);
});

for (const bug of BUGS) {
  test(`${bug.title}: the verifier finds the mistake, the page shows its explanation, and right advantages pass`, async (t) => {
    const file = `docs/gallery/${bug.name}.json`;
    same(file, batchOf(bug, 'wrong'));
    const { counts, command, shown } = sectionOf(file);
    const found = await echelon('verify', file);
    assert.equal(found.stdout.trim().split('\n').at(-1), counts);
    assert.equal(found.status, bug.row === undefined ? 1 : 0, found.stdout);
    assert.match(found.stdout, bug.row === undefined ? /error {3}wrong-rows/ : /warning rounding-rows/);
    assert.equal((await echelon(...command.split(' '))).stdout.trim(), shown);
    const right = rightFile(t, batchOf(bug, 'right'));
    const passed = await echelon('verify', right);
    assert.equal(passed.status, 0, passed.stdout);
    assert.match(passed.stdout, / 0 rounding, 0 wrong, 0 unverifiable/);
  });
}

for (const bug of STEP_BUGS) {
  test(`${bug.title}: the step is not ok or has a finding, the page shows the cause, and the right step passes`, async (t) => {
    const file = `docs/gallery/${bug.name}.json`;
    same(file, stepFileOf(bug, 'wrong'));
    const { counts, command, shown } = sectionOf(file);
    const found = await echelon('verify', '--require', 'gradient', file);
    assert.equal(found.stdout.trim().split('\n').at(-1), counts);
    assert.equal(found.status, bug.status ?? 1, found.stdout);
    if (bug.status === 0) assert.match(found.stdout, /warning [a-z-]+/);
    assert.equal((await echelon(...command.split(' '))).stdout.trim(), shown);
    const right = rightFile(t, stepFileOf(bug, 'right'));
    const passed = await echelon('verify', '--require', 'gradient', right);
    assert.equal(passed.status, 0, passed.stdout);
    assert.doesNotMatch(passed.stdout, /warning|error/);
  });
}
