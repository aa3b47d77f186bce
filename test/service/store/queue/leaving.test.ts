import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterRecord, running, storeFor, submitInput } from '../../../support/store.ts';

test('the preemption of an attempt ends with it', async (t) => {
  const { store, redis } = await storeFor(t);
  await store.clusters.put(clusterRecord());
  const { id: by } = await store.experiments.submit(submitInput());
  const lease = await running(store);
  await redis.hset('{echelon}:leaving', lease.experiment, JSON.stringify({ by, until: 1, reason: 'r' }));
  const leaving = async () => [...(await store.queue.snapshot(10)).leaving.keys()];
  assert.deepEqual(await leaving(), [lease.experiment]);
  await store.attempts.end(lease, { to: 'queued', reason: 'the driver was stopped' });
  assert.deepEqual(await leaving(), []);
});

test('a round knows for seconds which allocation has ended, because Ray may still count it', async (t) => {
  const { store, redis } = await storeFor(t);
  await store.clusters.put(clusterRecord());
  const lease = await running(store);
  const held = (await store.queue.snapshot(10)).allocations.get('local')!.items;
  assert.deepEqual((await store.queue.snapshot(10)).freed, new Map());
  await store.attempts.end(lease, { to: 'succeeded', reason: 'exit code 0' });
  assert.deepEqual((await store.queue.snapshot(10)).freed, new Map([['local', held]]));
  const key = '{echelon}:freed:local';
  assert.ok((await redis.pttl(key)) > 0, 'it expires');
  for (const member of await redis.zrange(key, '0', '-1')) await redis.zadd(key, Date.now() - 16_000, member);
  assert.deepEqual((await store.queue.snapshot(10)).freed, new Map());
});
