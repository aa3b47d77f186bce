import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';

const { store, connection } = await apiFor({ after });

async function run(...argv: string[]) {
  const output = keptOutput();
  await runProgram(output, [...argv, ...connection]);
  return output;
}

test('clock compares the two times, and confirms the clock of Redis after a leap', async () => {
  const steady = await run('clock');
  assert.match(steady.lines.join(), /The store's time is .*; the clock of Redis says/);
  assert.deepEqual(steady.remarks, []);
  const own = { machine: 'm', uptime: 1, wall: 1, within: 0 };
  await store.clock.see(await store.clock.read(), -86_400_000, own);
  assert.match((await run('clock')).remarks.join(), /has leapt, so retention deletes nothing/);
  assert.match((await run('clock', '--confirm')).lines.join(), /the clock of Redis says/);
  assert.equal((await run('clock', '--json')).json<{ leapt: boolean }>().leapt, false);
});
