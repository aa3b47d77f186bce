import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXIT } from 'command-kit/exit';
import { keptOutput, runProgram } from '../../../support/cli.ts';

interface Answer {
  ok: boolean;
  checks: { name: string; ok: boolean; found: string; remedy: string }[];
}

test('where all is there, it says what it found', async () => {
  const output = keptOutput();
  const { exitCode } = await runProgram(output, ['doctor', '--json', '--python', '.venv/bin/python']);
  const { ok, checks } = output.json<Answer>();
  assert.deepEqual([exitCode, ok], [0, true], JSON.stringify(checks));
  assert.deepEqual(
    checks.map(({ name }) => name),
    ['Node', 'Redis', 'Python', 'Ray', 'ray-worker', 'disk'],
  );
});

test('where something is missing, it says what to do and ends with 1', async () => {
  const output = keptOutput();
  const { exitCode } = await runProgram(output, ['doctor', '--python', 'no-such-python']);
  assert.equal(exitCode, EXIT.notOk);
  const text = output.lines.join('\n');
  assert.match(text, /MISSING {2}Python {7}no-such-python does not run[^\n]*\n {9}Install Python 3\.10/);
  assert.match(text, /MISSING {2}Ray/);
});
