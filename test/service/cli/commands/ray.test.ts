import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXIT } from 'command-kit/exit';
import { startFakeRay } from '../../../../packages/ray-client-ts/test/support/fake-ray.ts';
import { commands } from '../../../../src/cli/commands/ray.ts';
import { keptOutput, runProgram } from '../../../support/cli.ts';

test('there are four commands, and each takes an address', () => {
  const { commands: sub } = commands.ray(keptOutput());
  assert.deepEqual(
    sub.map((command) => command.name()),
    ['status', 'call', 'actors', 'kill'],
  );
  for (const command of sub) assert.equal(command.registeredArguments[0]!.name(), 'address');
});

// Fails if the address does not reach the command, or its error is no exit status. That no cluster answers, which takes
// the whole time limit, is tested in ray-commands.test.ts.
test('a cluster that refuses the token is a sentence and an exit status', async () => {
  await using ray = await startFakeRay({ token: 'another' });
  const status = ['ray', 'status', `ray://${ray.address}`];
  const { exitCode, error } = await runProgram(keptOutput(), status);
  assert.equal(exitCode, EXIT.refused);
  assert.match(error!.message, /RAY_AUTH_TOKEN/);
});
