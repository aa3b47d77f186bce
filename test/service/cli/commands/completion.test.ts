import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
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

test('commands, and commands within them, are completed', () => {
  assert.deepEqual(offered('echelon subm'), ['submit']);
  assert.deepEqual(offered('echelon sweeps c'), ['compare', 'cancel']);
  assert.deepEqual(offered('echelon sweep --url u c'), ['compare', 'cancel']);
  assert.ok(offered('echelon ').length > 20);
});

test('options and the values of those with a choice are completed', () => {
  assert.deepEqual(offered('echelon submit --wa'), ['--watch']);
  assert.deepEqual(offered('echelon sweeps submit --dr'), ['--dry-run']);
  assert.deepEqual(offered('echelon logs x --source std'), ['stdout', 'stderr']);
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
