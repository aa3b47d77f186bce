import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { carriedOut, startChild, VerifierBusyError } from '../../src/pool/child.ts';
import { createLimitedStart } from '../../src/pool/memory-limit.ts';

const start = createLimitedStart({ memoryBytes: 2 ** 28, heapBytes: 2 ** 26, cpuSeconds: 60 });

test('a process that ends before it is ready is not the fault of a batch', async () => {
  const broken = async () =>
    spawn(process.execPath, ['-e', 'process.exit(3)'], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  await assert.rejects(startChild(broken), VerifierBusyError);
});

test('a task ends with the reason if its process dies, its time is over or its caller leaves', async () => {
  const order = { name: 'verify', task: {}, bytes: new Uint8Array(3 * 2 ** 20) } as const;
  const killed = await startChild(start);
  const work = carriedOut(killed, order, 60_000);
  killed.kill('SIGKILL');
  assert.deepEqual(await work, { died: 'SIGKILL' });

  const child = await startChild(start);
  assert.deepEqual(await carriedOut(child, order, 0), { overTime: true });
  assert.deepEqual(await carriedOut(child, order, 60_000, AbortSignal.abort()), { died: 'the caller' });
  assert.equal(child.listenerCount('message'), 0);
  child.kill('SIGKILL');
  await once(child, 'exit');
});

test('a signal to the whole group of processes ends no task', async () => {
  const child = await startChild(start);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) child.kill(signal);
  const ended = await carriedOut(
    child,
    { name: 'verify', task: { budgetBytes: 2 ** 20 }, bytes: Buffer.from('x') },
    60_000,
  );
  assert.ok('answer' in ended);
  child.kill('SIGKILL');
  await once(child, 'exit');
});
