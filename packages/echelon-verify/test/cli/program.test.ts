import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PROGRAM = 'packages/echelon-verify/src/cli/main.ts';

test('the program prints the version of its package', async () => {
  const { version } = JSON.parse(await readFile('packages/echelon-verify/package.json', 'utf8'));
  for (const option of ['--version', '-V']) {
    const { stdout } = await run(process.execPath, [PROGRAM, option]);
    assert.equal(stdout, `echelon-verify ${version}\n`);
  }
});

test('the examples in the help of a command call the program by its name', async () => {
  for (const command of ['verify', 'explain', 'identify', 'estimate', 'compare', 'signal']) {
    const { stdout } = await run(process.execPath, [PROGRAM, command, '--help']);
    assert.match(stdout, new RegExp(`^ .*echelon-verify ${command}`, 'm'));
    assert.doesNotMatch(stdout, /\bechelon (verify|explain|identify|estimate|compare|signal)\b/);
  }
});
