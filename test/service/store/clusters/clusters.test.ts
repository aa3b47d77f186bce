import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Cluster } from '../../../../src/store/clusters/types.ts';
import { claim as claimOn } from '../../../support/claim.ts';
import { shiftClock } from '../../../support/shifted-clock.ts';
import { claimed, clusterRecord, storeFor, submitInput } from '../../../support/store.ts';

function cluster(name: string, changes: Partial<Cluster> = {}): Cluster {
  return clusterRecord({
    name,
    address: '127.0.0.1:1',
    answering: false,
    nodes: [{ id: 'n', cpusTotal: 4.5, gpusTotal: 1, cpusUsed: 0, gpusUsed: 0 }],
    ...changes,
  });
}

test('clusters are kept whole, by name, until they are removed', async (t) => {
  const { store } = await storeFor(t);
  await store.clusters.put(cluster('b'));
  await store.clusters.put(cluster('a'));
  await store.clusters.put(cluster('b', { generation: 'g', lastSeenAt: 5 }));
  assert.deepEqual(await store.clusters.list(), [
    cluster('a'),
    cluster('b', { generation: 'g', lastSeenAt: 5 }),
  ]);
  await store.clusters.remove('a');
  assert.deepEqual(
    (await store.clusters.list()).map(({ name }) => name),
    ['b'],
  );
});

test('clusters are read by their names with all that stands beside their records', async (t) => {
  const { store } = await storeFor(t);
  for (const name of ['a', 'b', 'c']) await store.clusters.put(cluster(name));
  const nodes = [{ id: 'm', cpusTotal: 2, gpusTotal: 0, cpusUsed: 1, gpusUsed: 0 }];
  await store.clusters.see('b', { address: '127.0.0.1:1', generation: 'g', nodes });
  await store.clusters.setDraining('b', true);
  await store.clusters.set('b', { labels: { gpu: 'h100' }, backfill: true });
  await store.clusters.set('b', { env: { HF_HOME: '/shared' }, secretProjects: { wandb: ['vision'] } });
  await store.clusters.set('c', { labels: { gpu: 'a100' } });
  const [a, b] = await store.clusters.list();
  assert.deepEqual([b!.draining, b!.labels, b!.backfill], [true, { gpu: 'h100' }, true]);
  assert.deepEqual(b!.env, { HF_HOME: '/shared' });
  assert.deepEqual(b!.secretProjects, { wandb: ['vision'] });
  assert.deepEqual(await store.clusters.list(['b']), [b]);
  assert.deepEqual(await store.clusters.list(['b', 'none', 'a']), [a, b]);
  assert.deepEqual(await store.clusters.list(['none']), []);
  assert.deepEqual(await store.clusters.list([]), []);
  await store.clusters.set('b', { secretProjects: null });
  assert.equal((await store.clusters.list(['b']))[0]!.secretProjects, undefined);
  await store.clusters.set('b', { secretProjects: {} });
  await store.clusters.remove('b');
  await store.clusters.put(cluster('b'));
  const [again] = await store.clusters.list(['b']);
  assert.deepEqual([again!.labels, again!.env, again!.secretProjects], [undefined, undefined, undefined]);
});

test('the version of the allocations rises with each new one, and with the removal of the cluster', async (t) => {
  const { store } = await storeFor(t);
  assert.deepEqual(await store.clusters.allocations('local'), { version: 0, items: [] });
  const { id } = await store.experiments.submit(submitInput());
  const lease = await claimed(store, id);
  assert.deepEqual(await store.clusters.allocations('local'), {
    version: 1,
    items: [{ experiment: id, project: 'default', node: 'node-1', gpus: 0, cpus: 1 }],
  });
  await store.attempts.end(lease, { to: 'queued', reason: '' });
  assert.deepEqual(await store.clusters.allocations('local'), { version: 1, items: [] });
  await store.clusters.remove('local');
  assert.equal((await store.clusters.allocations('local')).version, 2);
});

test('what was seen stands beside the record, and counts only at its address', async (t) => {
  const { store, redis } = await storeFor(t);
  const nodes = [{ id: 'm', cpusTotal: 2, gpusTotal: 0, cpusUsed: 1, gpusUsed: 0 }];
  const seen = { address: '127.0.0.1:1', generation: 'g', nodes, rayVersion: '2.60.0' };
  await store.clusters.see('a', seen);
  assert.deepEqual(await store.clusters.list(), [], 'it brought a cluster into being');
  // Fails without the look in see-cluster.lua: what a cluster said that is gone would stay forever.
  assert.equal(await redis.exists('{echelon}:clusters:seen'), 0);
  await store.clusters.put(cluster('a'));
  await store.clusters.see('a', seen);
  const [read] = await store.clusters.list();
  assert.deepEqual(read, { ...cluster('a'), ...seen, lastSeenAt: read?.lastSeenAt, answering: true });
  await store.clusters.put(cluster('a', { address: '127.0.0.1:2' }));
  assert.deepEqual(await store.clusters.list(), [cluster('a', { address: '127.0.0.1:2' })]);
  await store.clusters.see('a', seen);
  assert.deepEqual(
    await store.clusters.list(),
    [cluster('a', { address: '127.0.0.1:2' })],
    'an old address came back',
  );
});

test('on a draining cluster no claim succeeds, whenever it was decided', async (t) => {
  const { store } = await storeFor(t);
  assert.equal(await store.clusters.setDraining('local', true), false);
  await store.clusters.put(cluster('local'));
  const { version } = await store.clusters.allocations('local');
  const { id } = await store.experiments.submit(submitInput());
  const claim = () =>
    claimOn(store, {
      experiment: id,
      cluster: 'local',
      nodes: [{ id: 'n', gpus: 0, cpus: 1 }],
      allocationVersion: version,
      dispatcher: 'd',
      leaseMs: 1000,
    });
  assert.equal(await store.clusters.setDraining('local', true), true);
  assert.equal((await store.clusters.list())[0]!.draining, true);
  assert.equal((await claim()).outcome, 'changed');
  await store.clusters.put((await store.clusters.list())[0]!);
  assert.equal((await store.clusters.list())[0]!.draining, true, 'a change of the record ended it');
  await store.clusters.setDraining('local', false);
  assert.equal((await store.clusters.list())[0]!.draining, undefined);
  assert.equal((await claim()).outcome, 'claimed');
});

test('a cluster is not removed while something is allocated; once removed, nothing starts there until it is added', async (t) => {
  const { store } = await storeFor(t);
  await store.clusters.put(cluster('local'));
  const { id } = await store.experiments.submit(submitInput());
  const lease = await claimed(store, id);
  assert.equal(await store.clusters.remove('local'), 'busy');
  await store.attempts.end(lease, { to: 'queued', reason: '' });
  assert.equal(await store.clusters.remove('local'), 'removed');
  assert.equal(await store.clusters.remove('local'), 'absent');
  const { version } = await store.clusters.allocations('local');
  const late = {
    experiment: id,
    cluster: 'local',
    nodes: [{ id: 'n', gpus: 0, cpus: 1 }],
    allocationVersion: version,
    dispatcher: 'd',
    leaseMs: 1000,
  };
  assert.equal((await claimOn(store, late)).outcome, 'changed');
  await store.clusters.put(cluster('local'));
  assert.equal((await claimOn(store, late)).outcome, 'claimed');
});

/* Fails where a time of one process is compared with the clock of another: a cluster would be silent for half of a fleet. */
test('whether a cluster answers is judged by the clock of the server only', async (t) => {
  const { store, redis } = await storeFor(t);
  await store.clusters.put(cluster('a'));
  t.after(() => shiftClock(0));
  const seen = { address: '127.0.0.1:1', generation: 'g', nodes: [] };
  const answering = async () => [
    (await store.clusters.list())[0]?.answering,
    (await store.clusters.list(['a']))[0]?.answering,
    (await store.queue.snapshot(1)).clusters[0]?.answering,
  ];
  assert.deepEqual(await answering(), [false, false, false]);
  for (const skewMs of [3_600_000, -3_600_000]) {
    shiftClock(skewMs);
    await store.clusters.see('a', seen);
    shiftClock(-skewMs);
    assert.deepEqual(await answering(), [true, true, true]);
    const [seconds] = (await redis.time()) as [number, number];
    const lastSeenAt = Number(seconds) * 1000 - 17_000;
    await redis.hset('{echelon}:clusters:seen', 'a', JSON.stringify({ ...seen, lastSeenAt }));
    assert.deepEqual(await answering(), [false, false, false]);
  }
});
