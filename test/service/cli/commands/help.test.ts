import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProgram } from '../../../../src/cli/program.ts';
import { keptOutput } from '../../../support/cli.ts';

async function help(...names: string[]): Promise<string> {
  const program = await createProgram(keptOutput());
  const parts: string[] = [];
  const seen = { writeOut: (part: string) => void parts.push(part), getOutHelpWidth: () => 100 };
  program.configureOutput(seen);
  for (const sub of program.commands) for (const one of [sub, ...sub.commands]) one.configureOutput(seen);
  await program.parseAsync(['help', ...names], { from: 'user' });
  return parts.join('');
}

test('help says what --help says, of a command within a command too', async () => {
  assert.match(await help(), /^Usage: echelon COMMAND \[options\]/);
  assert.match(await help('sweep'), /^Usage: echelon sweeps/);
  assert.match(await help('sweep', 'submit'), /^Usage: echelon sweeps submit .*--dry-run/s);
});

test('a command that is not there is named, with the one that was meant', async () => {
  await assert.rejects(help('sweep', 'sumbit'), /There is no command "sumbit"\. Did you mean submit\?/);
  await assert.rejects(help('zzzzzz'), /List the commands with `echelon --help`/);
});
