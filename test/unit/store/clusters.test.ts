import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Cluster } from '../../../src/store/store.ts';
import { claimed, storeFor, submitInput } from '../../support/store.ts';

function cluster(name: string, changes: Partial<Cluster> = {}): Cluster {
  return {
    name,
    address: '127.0.0.1:1',
    token: 't',
    ca: null,
    backfill: false,
    generation: null,
    lastSeenAt: null,
    nodes: [{ id: 'n', cpusTotal: 4.5, gpusTotal: 1, cpusUsed: 0, gpusUsed: 0 }],
    ...changes,
  };
}

test('clusters are kept whole, by name, until they are removed', async (t) => {
  const { store } = await storeFor(t);
  await store.putCluster(cluster('b'));
  await store.putCluster(cluster('a'));
  await store.putCluster(cluster('b', { generation: 'g', lastSeenAt: 5 }));
  assert.deepEqual(await store.clusters(), [cluster('a'), cluster('b', { generation: 'g', lastSeenAt: 5 })]);
  await store.removeCluster('a');
  assert.deepEqual(
    (await store.clusters()).map(({ name }) => name),
    ['b'],
  );
});

test('the version of the reservations rises with every change of them', async (t) => {
  const { store } = await storeFor(t);
  assert.deepEqual(await store.reservations('local'), { version: 0, items: [] });
  const { id } = await store.submit(submitInput());
  const lease = await claimed(store, id);
  assert.deepEqual(await store.reservations('local'), {
    version: 1,
    items: [{ experiment: id, node: 'node-1', gpus: 0, cpus: 1 }],
  });
  await store.end(lease, { to: 'queued', reason: '' });
  assert.deepEqual(await store.reservations('local'), { version: 2, items: [] });
  await store.removeCluster('local');
  assert.equal((await store.reservations('local')).version, 3);
});
