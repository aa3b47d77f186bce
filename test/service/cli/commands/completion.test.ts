import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { completionScript } from '../../../../src/cli/commands/completion.ts';
import { createProgram } from '../../../../src/cli/program.ts';
import { keptOutput } from '../../../support/cli.ts';

const output = keptOutput();
const program = await createProgram(output);

/** What bash offers for `line`, whose last word is incomplete. */
function offered(line: string): string[] {
  const words = line.split(' ');
  const script = `${completionScript(program, 'bash')}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
_echelon
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const text = execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
  return text.split('\n').filter((word) => word !== '');
}

const NO_FISH =
  spawnSync('fish', ['--version']).error !== undefined && 'no fish; on Debian: apt-get install fish';

/** What fish offers for `line`. */
function offeredByFish(line: string): string[] {
  const script = `${completionScript(program, 'fish')}\ncomplete -C '${line}'`;
  // fish makes folders in HOME.
  const home = mkdtempSync(join(tmpdir(), 'echelon-fish-'));
  const env = { ...process.env, HOME: home, COLUMNS: '80', TERM: 'dumb' };
  const text = execFileSync('fish', ['--no-config', '-c', script], { encoding: 'utf8', env });
  rmSync(home, { recursive: true });
  return text
    .split('\n')
    .filter((word) => word !== '')
    .toSorted();
}

test('fish completes commands, options and their values', { skip: NO_FISH }, () => {
  assert.deepEqual(offeredByFish('echelon subm'), ['submit']);
  assert.deepEqual(offeredByFish('echelon clusters d'), ['delete', 'drain']);
  assert.deepEqual(offeredByFish('echelon cluster --url u d'), ['delete', 'drain']);
  assert.deepEqual(offeredByFish('echelon sweeps submit --dr'), ['--dry-run']);
  assert.deepEqual(offeredByFish('echelon usage --by cl'), ['cluster']);
});

test('commands, and commands within them, are completed', () => {
  assert.deepEqual(offered('echelon subm'), ['submit']);
  assert.deepEqual(offered('echelon clusters d'), ['drain', 'delete']);
  assert.deepEqual(offered('echelon cluster --url u d'), ['drain', 'delete']);
  assert.ok(offered('echelon ').length > 20);
});

test('options and the values of those with a choice are completed', () => {
  assert.deepEqual(offered('echelon submit --wa'), ['--watch']);
  assert.deepEqual(offered('echelon sweeps submit --dr'), ['--dry-run']);
  assert.deepEqual(offered('echelon usage --by cl'), ['cluster']);
});

test('no words are offered in place of a file', () => {
  assert.deepEqual(offered('echelon submit deploy'), []);
  assert.match(completionScript(program, 'bash'), /complete -o default/);
});

test('the command prints the script, for zsh with what makes it understood', async () => {
  await program.parseAsync(['completion', 'zsh'], { from: 'user' });
  assert.equal(output.lines[0], completionScript(program, 'zsh'));
  assert.match(output.lines[0]!, /bashcompinit/);
});
