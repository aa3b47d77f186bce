import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rayCommand } from '../../../../src/cli/commands/ray.ts';
import { freePort } from '../../../../src/cli/local/processes.ts';
import { keptOutput, runCommand } from '../../../support/cli.ts';

test('there are four commands, and each takes an address', () => {
  const commands = rayCommand(keptOutput()).commands;
  assert.deepEqual(
    commands.map((command) => command.name()),
    ['status', 'call', 'actors', 'kill'],
  );
  for (const command of commands) assert.equal(command.registeredArguments[0]!.name(), 'address');
});

test('a cluster that does not answer is a sentence and an exit status', async () => {
  const address = `ray://127.0.0.1:${await freePort()}`;
  const { exitCode, error } = await runCommand([rayCommand(keptOutput())], ['ray', 'status', address]);
  assert.notEqual(exitCode, 0);
  assert.match(error!.message, /127\.0\.0\.1/);
});
