import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { processIdentity } from '../../../../src/cli/local/process-identity.ts';

test('a process keeps its identity, another one has another, and one that has ended has none', async (t) => {
  const mine = processIdentity(process.pid);
  assert.match(mine!, /^[0-9a-f-]{36} \d+$/);
  assert.equal(processIdentity(process.pid), mine);
  const other = spawn('sleep', ['60'], { stdio: 'ignore' });
  t.after(() => other.kill('SIGKILL'));
  await once(other, 'spawn');
  const theirs = processIdentity(other.pid!);
  assert.notEqual(theirs, undefined);
  assert.notEqual(theirs, mine);
  other.kill('SIGKILL');
  await once(other, 'exit');
  assert.equal(processIdentity(other.pid!), undefined);
});
