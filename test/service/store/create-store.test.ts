import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redisFor } from '../../support/redis.ts';
import { running, storeFor, submitInput } from '../../support/store.ts';

test('stores under different prefixes share a server and nothing else', async (t) => {
  const server = await redisFor(t);
  const one = await storeFor(t, { server, prefix: 'one' });
  const two = await storeFor(t, { server, prefix: 'two' });
  const lease = await running(one.store);
  assert.equal(await two.store.experiments.get(lease.experiment), undefined);
  assert.equal((await two.store.experiments.counts()).running, 0);
  assert.equal((await one.store.experiments.counts()).running, 1);
  assert.deepEqual(await two.store.attempts.takeOver({ dispatcher: 'd', leaseMs: 1, limit: 5 }), []);
});

test('every key has the hash tag, so that all are in one slot', async (t) => {
  const { store, redis } = await storeFor(t, { prefix: 'p' });
  await store.experiments.submit(submitInput({ idempotency: { name: 'k', digest: 'd' } }));
  await running(store);
  const names = await redis.keys('*');
  assert.ok(names.length > 10);
  for (const name of names) assert.ok(name.startsWith('{p}:'), name);
});

test('close leaves the connection to its owner', async (t) => {
  const { store, redis } = await storeFor(t);
  await store.onWake(() => {});
  await store.close();
  assert.equal(await redis.ping(), 'PONG');
  assert.equal((await store.experiments.counts()).queued, 0);
});
