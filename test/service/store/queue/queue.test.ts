import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AttemptEvent } from '../../../../src/core/events.ts';
import { newProject } from '../../../../src/schemas/project.ts';
import type { Lease } from '../../../../src/store/attempts/types.ts';
import type { Store } from '../../../../src/store/store.ts';
import { claim as claimOn } from '../../../support/claim.ts';
import { claimed, clusterRecord, coded, running, storeFor, submitInput } from '../../../support/store.ts';
import { expandedSweep } from '../../../support/sweep.ts';

const PAUSE = { by: 'ann', at: 5, reason: 'upgrade' };
const NOTHING = {
  all: null,
  projects: new Map(),
  clusters: new Map(),
  closed: { all: null, projects: new Map() },
};

async function submitted(store: Store, more: Parameters<typeof submitInput>[0] = {}): Promise<string> {
  return (await store.experiments.submit(submitInput(more))).id;
}

describe('the lines of the projects', () => {
  test('the lines of the projects are in the order of the whole line, and say of whom more wait', async (t) => {
    const { store, redis } = await storeFor(t);
    const first = await submitted(store, { project: 'a' });
    const second = await submitted(store, { project: 'b', priority: 5 });
    const third = await submitted(store, { project: 'a' });
    const ids = async (limit: number) => {
      const { queued, truncated } = await store.queue.window(limit);
      return [queued.map(({ experiment }) => experiment), [...truncated]];
    };
    assert.deepEqual(await ids(10), [[second, first, third], []]);
    assert.deepEqual(await ids(1), [[second, first], ['a']]);
    await store.experiments.cancel(second, '');
    // Fails if a change of state leaves the experiment in its project's line.
    assert.deepEqual(await redis.smembers('{echelon}:queues'), ['a']);
    const lease = await claimed(store, first);
    assert.deepEqual(await ids(10), [[third], []]);
    assert.equal(await redis.zcard('{echelon}:queue:a'), 1);
    await store.attempts.end(lease, { to: 'queued', reason: '' });
    assert.equal(await redis.zcard('{echelon}:queue:a'), 2);
    assert.deepEqual(await ids(10), [[first, third], []]);
    assert.deepEqual(await ids(0), [[], []]);
  });
});

describe('a change of priority', () => {
  test('moves one that waits, in both lines, and is kept when it comes back', async (t) => {
    const { store } = await storeFor(t);
    const [first, second] = [await submitted(store), await submitted(store)];
    assert.equal(await store.queue.setPriority(second, 7), 'changed');
    assert.deepEqual(await store.queue.ids(10), [second, first]);
    const { queued } = await store.queue.window(10);
    assert.deepEqual(
      queued.map(({ experiment, priority }) => [experiment, priority]),
      [
        [second, 7],
        [first, 0],
      ],
    );
    const lease = await claimed(store, second);
    assert.equal(await store.queue.setPriority(second, 1), 'not-queued');
    assert.equal((await store.experiments.get(second))?.priority, 7);
    await store.attempts.end(lease, { to: 'queued', reason: '' });
    assert.deepEqual(await store.queue.ids(10), [second, first]);
    assert.equal(await store.queue.setPriority('exp-00000000000000000000', 1), 'not-found');
  });
});

describe('a pause', () => {
  // Fails without the look at what is paused in claim.lua.
  for (const [what, target] of [
    ['the queue of all projects', { kind: 'all' }],
    ['the project', { kind: 'project', name: 'default' }],
    ['the cluster', { kind: 'cluster', name: 'local' }],
  ] as const)
    test(`a pause of ${what} refuses a claim that was decided before, until it is resumed`, async (t) => {
      const { store } = await storeFor(t);
      await store.clusters.put(clusterRecord({ address: '', token: '' }));
      const id = await submitted(store);
      assert.equal(await store.queue.setPaused(target, PAUSE), true);
      await assert.rejects(claimed(store, id), /not claimed: changed/);
      const { all, projects, clusters } = await store.queue.pauses();
      const found = target.kind === 'all' ? all : (projects.get('default') ?? clusters.get('local'));
      assert.deepEqual(found, PAUSE);
      await store.queue.setPaused(target, null);
      assert.deepEqual(await store.queue.pauses(), NOTHING);
      await claimed(store, id);
    });

  test('a pause of a cluster that is not known is none; a pause goes with its cluster or project', async (t) => {
    const { store } = await storeFor(t);
    assert.equal(await store.queue.setPaused({ kind: 'cluster', name: 'x' }, PAUSE), false);
    await store.clusters.put(clusterRecord({ name: 'x', address: '', token: '' }));
    await store.projects.create(newProject({ name: 'x' }, 0));
    await store.queue.setPaused({ kind: 'cluster', name: 'x' }, PAUSE);
    await store.queue.setPaused({ kind: 'project', name: 'x' }, PAUSE);
    await store.queue.setClosed({ kind: 'project', name: 'x' }, PAUSE);
    await store.clusters.remove('x');
    assert.equal(await store.projects.remove('x', 0), 'removed');
    assert.deepEqual(await store.queue.pauses(), NOTHING);
  });
});

// Fails without the version of the project in allocate.lua: allocations on two clusters would exceed its quota together.
test('a claim is refused where its project has got something since', async (t) => {
  const { store } = await storeFor(t);
  const [first, second] = [await submitted(store), await submitted(store)];
  const projectVersion = (await store.queue.projectVersions()).get('default') ?? 0;
  const claim = (experiment: string, cluster: string) =>
    claimOn(store, {
      experiment,
      cluster,
      nodes: [{ id: 'n', gpus: 1, cpus: 1 }],
      allocationVersion: 0,
      dispatcher: 'd',
      leaseMs: 1e4,
      project: 'default',
      projectVersion,
    });
  assert.equal((await claim(first, 'one')).outcome, 'claimed');
  assert.equal((await claim(second, 'two')).outcome, 'changed');
  assert.equal((await store.queue.projectVersions()).get('default'), projectVersion + 1);
  assert.equal((await store.clusters.allocations('one')).items[0]?.project, 'default');
});

test('notes are kept while an experiment waits, and give its place where projects take turns', async (t) => {
  const { store } = await storeFor(t);
  const resolved = { clusterLabels: { gpu: 'h100' }, resources: { nodeLabels: { zone: 'b' } } };
  const id = await submitted(store, { resolved });
  await submitted(store);
  const estimate = { startAt: 30, earliest: 20, latest: 40 };
  await store.queue.note(new Map([[id, { reason: 'r', rank: 2, estimate }]]));
  const [item] = await store.queue.first(1);
  assert.deepEqual(
    [item?.reason, item?.rank, item?.estimate, item?.unknown, item?.labels, item?.nodeLabels],
    ['r', 2, estimate, null, { gpu: 'h100' }, { zone: 'b' }],
  );
  assert.equal((await store.queue.position(id)).rank, 1);
  await submitted(store, { project: 'other' });
  assert.equal((await store.queue.position(id)).rank, 2);
  await store.queue.note(new Map([[id, { reason: 'r', estimate: null, unknown: 'who knows' }]]));
  assert.deepEqual(
    [(await store.queue.first(1))[0]?.estimate, (await store.queue.first(1))[0]?.unknown],
    [null, 'who knows'],
  );
});

test('what people set of a cluster outlives the next record of it, and goes with the cluster', async (t) => {
  const { store } = await storeFor(t);
  const record = clusterRecord({ name: 'c', address: '', token: '' });
  assert.equal(await store.clusters.set('c', { labels: {} }), false);
  await store.clusters.put(record);
  assert.equal(await store.clusters.set('c', { labels: { gpu: 'h100' }, backfill: true }), true);
  await store.clusters.put(record);
  const shown = async () => (await store.clusters.list()).map(({ labels, backfill }) => [labels, backfill]);
  assert.deepEqual(await shown(), [[{ gpu: 'h100' }, true]]);
  await store.clusters.set('c', { backfill: null });
  assert.deepEqual(await shown(), [[{ gpu: 'h100' }, false]]);
  await store.clusters.remove('c');
  await store.clusters.put(record);
  assert.deepEqual(await shown(), [[undefined, false]]);
});

describe('the pace of an experiment', () => {
  const stages = (...steps: [number, number][]) =>
    steps.map(([step, at], index) => ({
      sequence: index + 1,
      at,
      event: { type: 'stage', name: `step ${step}`, step, steps: 10 } as AttemptEvent,
    }));

  test('the pace of an experiment is measured from the beginning of a step to that of the next', async (t) => {
    const { store } = await storeFor(t);
    const lease = await running(store);
    const [pace] = (await store.queue.paces([lease.experiment])).values();
    assert.deepEqual([pace?.step, pace?.perStep], [null, null]);
    await store.events.append(lease, stages([0, 0], [1, 1_000], [2, 2_000], [2, 2_500], [3, 5_000]));
    const [now] = (await store.queue.paces([lease.experiment, 'exp-00000000000000000000'])).values();
    assert.deepEqual(now?.step, { number: 3, at: 5_000 });
    assert.deepEqual([now?.perStep?.count, now?.perStep?.meanMs, now?.steps], [2, 2_000, 10]);
    assert.ok(Math.abs(now!.perStep!.deviationMs - Math.SQRT2 * 1_000) < 1e-6);
  });

  test('continues over attempts without mixing their steps', async (t) => {
    const { store } = await storeFor(t);
    const lease = await running(store);
    await store.events.append(lease, stages([1, 0], [2, 100], [3, 200]));
    await store.attempts.end(lease, { to: 'queued', reason: '' });
    const next: Lease = await claimed(store, lease.experiment);
    const [between] = (await store.queue.paces([lease.experiment])).values();
    assert.deepEqual([between?.step, between?.perStep?.count], [null, 2]);
    await store.events.append(next, stages([2, 900_000], [3, 900_100]));
    const [now] = (await store.queue.paces([lease.experiment])).values();
    assert.deepEqual([now?.step?.number, now?.perStep?.count, now?.perStep?.meanMs], [3, 3, 100]);
  });

  test('knows the timeout, and when that of a running attempt is over', async (t) => {
    const { store } = await storeFor(t);
    const { id } = await store.experiments.submit(submitInput({ resolved: { timeoutSeconds: 60 } }));
    const pace = async () => (await store.queue.paces([id])).get(id);
    assert.deepEqual([(await pace())?.timeoutMs, (await pace())?.timeoutAt], [60_000, null]);
    await store.attempts.confirm(await claimed(store, id));
    const [attempt] = await store.attempts.list(id);
    assert.equal((await pace())?.timeoutAt, attempt!.confirmedAt! + 60_000);
  });

  // Fails without `lengths` in end.lua.
  test('the pace of an experiment of a sweep comes from its succeeded children', async (t) => {
    const { store } = await storeFor(t);
    const { children } = await expandedSweep(store, 4);
    const [first, second, third, last] = children as [string, string, string, string];
    for (const [id, to] of [
      [first, 'succeeded'],
      [second, 'succeeded'],
      [third, 'failed'],
    ] as const) {
      const lease = await claimed(store, id);
      await store.attempts.confirm(lease);
      await store.attempts.end(lease, { to, reason: '' });
    }
    const sweep = (await store.queue.paces([last])).get(last)?.sweep;
    const took = async (id: string) => {
      const record = await store.experiments.get(id);
      return record!.endedAt! - record!.startedAt!;
    };
    assert.equal(sweep?.count, 2);
    assert.ok(Math.abs(sweep!.meanMs - ((await took(first)) + (await took(second))) / 2) < 1e-6);
  });

  test('a redelivered event is measured once', async (t) => {
    const { store } = await storeFor(t);
    const lease = await running(store);
    const events = stages([1, 0], [2, 100], [3, 200]);
    await store.events.append(lease, events);
    await store.events.append(lease, events);
    await assert.rejects(store.events.append({ ...lease, token: 'x' }, events), coded('lease-lost'));
    assert.equal((await store.queue.paces([lease.experiment])).get(lease.experiment)?.perStep?.count, 2);
  });
});

/* Fails if the cluster of a checkpoint is not recorded: the next attempt would start from its first step elsewhere. */
test('a queued experiment has the cluster of its last checkpoint, and counts the steps while that cluster exists', async (t) => {
  const { store } = await storeFor(t);
  const cluster = { address: 'localhost:1', token: '', ca: null, backfill: false, generation: null };
  await store.clusters.put({ ...cluster, name: 'local', lastSeenAt: null, nodes: [] });
  const lease = await running(store);
  const { experiment } = lease;
  const saved = { type: 'checkpoint', step: 120, path: '/checkpoints/global_step_120' } as const;
  await store.events.append(lease, [{ sequence: 1, at: 1, event: saved }]);
  await store.attempts.end(lease, { to: 'queued', reason: 'killed' });

  const checkpoint = { cluster: 'local', step: 120 };
  assert.deepEqual((await store.queue.get(experiment))?.checkpoint, checkpoint);
  assert.deepEqual((await store.queue.snapshot(8)).window.queued[0]?.checkpoint, checkpoint);
  const portable = await claimed(store, (await store.experiments.submit(submitInput({}))).id);
  await store.attempts.confirm(portable);
  await store.events.append(portable, [{ sequence: 1, at: 1, event: saved }]);
  await store.attempts.end(portable, { to: 'queued', reason: 'lost', portable: true });
  assert.equal((await store.queue.get(portable.experiment))?.checkpoint, null);
  const kept = async () => (await store.queue.paces([experiment])).get(experiment)?.kept;
  assert.equal(await kept(), 120);
  await store.clusters.remove('local');
  assert.equal(await kept(), 0);

  const nodes = [{ id: 'n', gpus: 0, cpus: 1 }];
  const start = { experiment, cluster: 'other', nodes, allocationVersion: 0, project: 'default' };
  assert.deepEqual(await store.attempts.allocate([{ ...start, abandons: checkpoint }]), ['allocated']);
  const { reason } = (await store.experiments.get(experiment))!;
  assert.match(
    reason,
    /starts from its first step, because cluster local, which has its checkpoint of step 120/,
  );
});
