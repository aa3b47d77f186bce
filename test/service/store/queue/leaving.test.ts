import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimed, clusterRecord, running, storeFor, submitInput } from '../../../support/store.ts';

test('a preemption that an older version left behind its attempt counts for no round and no later attempt', async (t) => {
  const { store, redis } = await storeFor(t);
  await store.clusters.put(clusterRecord());
  const { id: by } = await store.experiments.submit(submitInput());
  const lease = await running(store);
  const leave = () =>
    redis.hset('{echelon}:leaving', lease.experiment, JSON.stringify({ by, until: 1, reason: 'r' }));
  const leaving = async () => [...(await store.queue.snapshot(10)).leaving.keys()];
  await leave();
  assert.deepEqual(await leaving(), [lease.experiment]);
  await store.attempts.end(lease, { to: 'queued', reason: 'the driver was stopped' });
  // An older version ends an attempt without its preemption.
  await leave();
  assert.deepEqual(await leaving(), []);
  const next = await claimed(store, lease.experiment);
  assert.equal(next.attempt, 2);
  assert.deepEqual(await leaving(), []);
});
