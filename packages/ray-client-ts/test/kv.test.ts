import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChannel } from '../src/channel.ts';
import { createIdempotency, createKv } from '../src/kv.ts';
import { startFakeRay } from './support/fake-ray.ts';

test('put, get, exists, list and delete', async () => {
  await using ray = await startFakeRay();
  const channel = createChannel({ address: ray.address });
  const kv = createKv(channel, 'c', createIdempotency());
  assert.equal(await kv.get('k'), undefined);
  assert.equal(await kv.put('k', ''), true);
  assert.deepEqual([...((await kv.get('k')) ?? [1])], []);
  assert.equal(await kv.put('k', 'second', { overwrite: false }), false);
  assert.equal(await kv.put('k', 'third', { namespace: 'n' }), true);
  assert.equal(String(await kv.get('k')), 'third');
  assert.equal(await kv.exists('k'), true);
  assert.deepEqual((await kv.list('')).map(String), ['k']);
  assert.equal(await kv.del('k'), 1);
  assert.equal(await kv.del('k', { byPrefix: true }), 0);
  assert.equal(await kv.exists('k'), false);
  channel.close();
});

test('changes at the same time take different threads; ids grow within each', async () => {
  const once = createIdempotency();
  const gate = Promise.withResolvers<void>();
  const seen: Record<string, string>[] = [];
  const change = (metadata: Record<string, string>): Promise<void> => {
    seen.push(metadata);
    return gate.promise;
  };
  const two = [once(change), once(change)];
  gate.resolve();
  await Promise.all(two);
  await once(change);
  assert.equal(new Set(seen.map((metadata) => metadata.thread_id)).size, 2);
  assert.deepEqual(
    seen.map((metadata) => metadata.req_id),
    ['1', '2', '3'],
  );
});
