import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { freeOn, type SchedulerCluster } from '../../../src/scheduler/nodes.ts';
import { scheduleRound } from '../../../src/scheduler/schedule.ts';
import type { Allocation } from '../../../src/store/clusters/types.ts';
import type { QueuedExperiment } from '../../../src/store/queue/types.ts';
import { allocationsOf, cluster, emptied, exactly, hasRoom, node, waits } from '../../support/queue.ts';

const none = new Map<string, Allocation[]>();
const started = (schedule: ReturnType<typeof scheduleRound>) =>
  schedule.start.map((start) => start.experiment);

describe('scheduleRound', () => {
  test('experiments that fit on one node start in the order of the queue', () => {
    const clusters = [cluster('a', [node('n', 4, 16)])];
    const schedule = scheduleRound({
      queued: [waits('x', 2), waits('y', 2), waits('z', 1)],
      clusters,
      allocations: none,
    });
    assert.deepEqual(schedule.start, [
      { experiment: 'x', project: 'p', cluster: 'a', nodes: [{ id: 'n', gpus: 2, cpus: 1 }] },
      { experiment: 'y', project: 'p', cluster: 'a', nodes: [{ id: 'n', gpus: 2, cpus: 1 }] },
    ]);
    assert.match(schedule.reasons.get('z') ?? '', /needs 1 GPU on one node and 1 CPU; .* 0 GPUs/);
    assert.deepEqual(schedule.open, []);
  });

  test('an experiment never starts on the combined room of two nodes', () => {
    const clusters = [cluster('a', [node('m', 4, 8), node('n', 8, 8)])];
    const allocations = new Map([
      ['a', [{ experiment: 'o', project: 'default', node: 'n', gpus: 4, cpus: 1 }]],
    ]);
    const schedule = scheduleRound({ queued: [waits('x', 8)], clusters, allocations });
    assert.deepEqual(schedule.start, []);
  });

  test('an experiment takes the fullest node that has room', () => {
    const clusters = [cluster('a', [node('large', 8, 8), node('small', 2, 8)])];
    const schedule = scheduleRound({ queued: [waits('x', 1), waits('y', 8)], clusters, allocations: none });
    assert.deepEqual(
      schedule.start.map((start) => start.nodes[0]?.id),
      ['small', 'large'],
    );
  });

  test('later experiments wait for one that does not fit, unless the cluster allows backfill', () => {
    const nodes = [node('n', 4, 16, { gpusUsed: 2 })];
    const queued = [waits('large', 4), waits('small', 1)];
    const strict = scheduleRound({ queued, clusters: [cluster('a', nodes)], allocations: none });
    assert.deepEqual(started(strict), []);
    assert.match(strict.reasons.get('small') ?? '', /waits for large/);
    const clusters = [cluster('a', nodes, { backfill: true })];
    const held = { experiment: 'o', project: 'default', node: 'n', gpus: 2, cpus: 1 };
    const ends = new Map([['o', exactly(100)]]);
    const filled = (length: number) =>
      scheduleRound({
        queued,
        clusters,
        ends,
        allocations: new Map([['a', [held]]]),
        lengths: new Map([['small', exactly(length)]]),
      });
    assert.deepEqual(started(filled(100)), ['small']);
    assert.deepEqual(started(filled(101)), []);
    assert.equal(filled(101).reasons.get('small'), 'would delay large, which is next on a');
    const unknown = scheduleRound({ queued, clusters, ends, allocations: new Map([['a', [held]]]) });
    assert.match(
      unknown.reasons.get('small') ?? '',
      /would delay large, .*: its own run time is not known yet/,
    );
  });

  test('projects take turns, and wait reasons name the project whose quota is used up', () => {
    const clusters = [cluster('a', [node('n', 4, 16)])];
    const queued = [
      ...['a1', 'a2', 'a3', 'a4'].map((id) => waits(id, 1, 1, { project: 'a' })),
      ...['b1', 'b2', 'b3'].map((id) => waits(id, 1, 1, { project: 'b' })),
    ];
    const fair = scheduleRound({ queued, clusters, allocations: none });
    assert.deepEqual(started(fair), ['a1', 'b1', 'a2', 'b2']);
    const heavier = new Map([['a', { weight: 2, gpuQuota: null }]]);
    const weighted = scheduleRound({ queued, clusters, allocations: none, projects: heavier });
    assert.deepEqual(started(weighted), ['a1', 'b1', 'a2', 'a3'], 'one that is not known weighs 1');
    const projects = new Map([['a', { weight: 1, gpuQuota: 1 }]]);
    const bound = scheduleRound({ queued, clusters, allocations: none, projects });
    assert.deepEqual(started(bound), ['a1', 'b1', 'b2', 'b3']);
    assert.equal(bound.reasons.get('a2'), 'needs 1 GPU; project a holds 1 of the 1 that it may hold');
    assert.match(bound.reasons.get('a3') ?? '', /waits for a2, which waits for the GPU quota of project a/);
  });

  test('an experiment with node labels starts on nodes that have them all, and its wait reason names the missing label', () => {
    const a100 = { 'ray.io/accelerator-type': 'A100' };
    const clusters = (backfill: boolean) => [
      cluster(
        'a',
        [
          node('h', 8, 64, { labels: { 'ray.io/accelerator-type': 'H100' } }),
          node('n', 4, 16, { labels: a100 }),
        ],
        {
          backfill,
        },
      ),
    ];
    const ask = (
      nodeLabels: Record<string, string>,
      gpus = 4,
      queued = [waits('x', gpus, 8, { nodeLabels })],
    ) => scheduleRound({ queued, clusters: clusters(true), allocations: none });
    assert.deepEqual(ask(a100).start[0]?.nodes, [{ id: 'n', gpus: 4, cpus: 8 }]);
    assert.equal(
      ask({ ...a100, 'ray.io/accelerator-type': 'L4' }).reasons.get('x'),
      'no node of any cluster has the label ray.io/accelerator-type=L4; its values there: A100, H100',
    );
    assert.match(
      ask({ ...a100, zone: 'b' }).reasons.get('x') ?? '',
      /the label zone=b; none has a label of that name$/,
    );
    assert.match(
      ask(a100, 8).reasons.get('x') ?? '',
      /can never fit: needs 8 GPUs on one node with ray.io\/accelerator-type=A100 .*; these nodes of any cluster have at most 4 GPUs and 16 CPUs/,
    );
    const held = new Map([['a', [{ experiment: 'o', node: 'n', gpus: 4, cpus: 4, project: 'p' }]]]);
    const queued = [waits('head', 4, 30, { nodeLabels: { ...a100 } }), waits('other', 8, 64)];
    assert.match(ask(a100, 4, queued).reasons.get('head') ?? '', /can never fit/);
    const round = (backfill: boolean) =>
      scheduleRound({
        queued: [waits('head', 2, 10, { nodeLabels: a100 }), waits('other', 8, 64)],
        clusters: clusters(backfill),
        allocations: held,
      });
    assert.deepEqual(started(round(true)), ['other'], 'the head can never run on the other node');
    assert.deepEqual(started(round(false)), []);
    assert.match(round(false).reasons.get('head') ?? '', /the freest such node has 0 GPUs and 12 CPUs free$/);
  });

  /* Fails if a blocked experiment does not count as a turn, or if one that can never start does. */
  test("a blocked experiment counts as its project's turn, a refused one does not", () => {
    const q = waits('q1', 8, 1, { project: 'q' });
    const order = (first: QueuedExperiment) =>
      scheduleRound({
        queued: [first, waits('p2', 8), q],
        clusters: [cluster('a', [node('n', 8, 64)])],
        allocations: new Map([['a', [{ experiment: 'r', node: 'n', gpus: 4, cpus: 1, project: 'r' }]]]),
      }).order.map(({ experiment }) => experiment);
    assert.deepEqual(order(waits('p1', 8)), ['p1', 'q1', 'p2']);
    assert.deepEqual(order(waits('p1', 9)), ['p1', 'p2', 'q1']);
  });

  // Fails where only the first of those that ask for the same counts.
  test('projects take turns among experiments of the same shape', () => {
    const schedule = scheduleRound({
      queued: ['p1', 'p2', 'p3', 'q1', 'q2'].map((id) => waits(id, 8, 1, { project: id[0]! })),
      clusters: [cluster('a', [node('n', 8, 64, { gpusUsed: 4 })])],
      allocations: none,
    });
    assert.deepEqual(
      schedule.order.map(({ experiment }) => experiment),
      ['p1', 'q1', 'p2', 'q2', 'p3'],
    );
  });

  // Fails if no quota is reserved for the blocked head of a cluster, or if it is also reserved for later experiments.
  test('the quota reserves GPUs for the blocked head of a cluster, and not for later experiments', () => {
    const clusters = [cluster('a', [node('n', 8, 64, { gpusUsed: 8 })]), cluster('b', [node('m', 8, 64)])];
    const schedule = scheduleRound({
      queued: [
        waits('next', 4, 1, { cluster: 'a' }),
        waits('later', 2, 1, { cluster: 'a' }),
        waits('fits', 4, 1, { cluster: 'b' }),
        waits('over', 1, 1, { cluster: 'b' }),
      ],
      clusters,
      allocations: none,
      projects: new Map([['p', { weight: 1, gpuQuota: 8 }]]),
    });
    assert.deepEqual(started(schedule), ['fits']);
    assert.match(
      schedule.reasons.get('over') ?? '',
      /holds 4 of the 8 .* and 4 are reserved for experiments before it/,
    );
  });

  // Fails where what is held is counted on the nodes: a cluster that is not seen has none.
  test('allocations on nodes that are not reported count towards the quota', () => {
    const clusters = [cluster('a', [node('n', 4, 16)]), cluster('silent', [], { answering: false })];
    const held = { experiment: 'o', node: 'm', gpus: 4, cpus: 1, project: 'p' };
    const schedule = scheduleRound({
      queued: [waits('x', 1, 1, { cluster: 'a' })],
      clusters,
      allocations: new Map([['silent', [held]]]),
      projects: new Map([['p', { weight: 1, gpuQuota: 4 }]]),
    });
    assert.deepEqual(started(schedule), []);
    assert.match(schedule.reasons.get('x') ?? '', /project p holds 4 of the 4/);
  });

  test('nothing starts while the queue, a project or a cluster is paused, and wait reasons name the person', () => {
    const clusters = [cluster('a', [node('n', 4, 16)])];
    const queued = [waits('x', 1), waits('y', 1, 1, { project: 'q' })];
    const line = scheduleRound({ queued, clusters, allocations: none, paused: ' by ann: upgrade' });
    assert.deepEqual([started(line), line.open], [[], []]);
    assert.equal(line.reasons.get('x'), 'the queue is paused by ann: upgrade');
    const projects = new Map([
      ['p', { weight: 1, gpuQuota: null, paused: ' by ann' }],
      ['q', { weight: 1, gpuQuota: null }],
    ]);
    const project = scheduleRound({ queued, clusters, allocations: none, projects });
    assert.deepEqual(started(project), ['y']);
    assert.equal(project.reasons.get('x'), 'the queue of p is paused by ann');
    const paused = [cluster('a', [node('n', 4, 16)], { paused: ' by ann' })];
    const one = scheduleRound({ queued, clusters: paused, allocations: none });
    assert.deepEqual([started(one), one.reasons.get('x')], [[], 'cluster a is paused by ann']);
  });

  // Fails without pauseAfterLoss.
  test('an experiment waits after a lost attempt, and others start meanwhile', () => {
    const clusters = [cluster('a', [node('n', 4, 16)])];
    const queued = [waits('lost', 4, 1, { notBefore: 60_000 }), waits('other', 4)];
    const schedule = scheduleRound({ queued, clusters, allocations: none });
    assert.deepEqual(started(schedule), ['other']);
    assert.match(schedule.reasons.get('lost') ?? '', /its last attempt was lost: .* 1970-01-01T00:01:00/);
    const due = [waits('lost', 4, 1, { notBefore: null }), waits('other', 4)];
    assert.deepEqual(started(scheduleRound({ queued: due, clusters, allocations: none })), ['lost']);
  });

  test('an experiment starts only on a cluster that has all its labels', () => {
    const clusters = [
      cluster('a', [node('n', 4, 16)], { labels: { gpu: 'h100', zone: 'x' } }),
      cluster('b', [node('n', 4, 16)], { labels: { gpu: 'h200', zone: 'x' } }),
    ];
    const queued = [
      waits('x', 1, 1, { labels: { gpu: 'h200', zone: 'x' } }),
      waits('y', 1, 1, { labels: { gpu: 'h200', zone: 'y' } }),
      waits('z', 8, 1, { labels: { gpu: 'h100' } }),
    ];
    const schedule = scheduleRound({ queued, clusters, allocations: none });
    assert.deepEqual(
      schedule.start.map((start) => [start.experiment, start.cluster]),
      [['x', 'b']],
    );
    assert.equal(schedule.reasons.get('y'), 'no cluster has the labels gpu=h200, zone=y');
    assert.match(schedule.reasons.get('z') ?? '', /the nodes of cluster a have at most 4 GPUs/);
  });

  test('an experiment starts only on the cluster of its checkpoint, and its wait reason names that cluster', () => {
    const checkpoint = { cluster: 'b', step: 120 };
    const queued = [
      waits('x', 2, 2, { checkpoint }),
      waits('y', 2, 2),
      waits('z', 2, 2, { cluster: 'b', checkpoint }),
    ];
    const clusters = [cluster('a', [node('n', 2, 2)]), cluster('b', [node('m', 2, 2, { gpusUsed: 1 })])];
    const { start, reasons } = scheduleRound({ queued, clusters, allocations: none });
    assert.deepEqual(
      start.map((one) => [one.experiment, one.cluster]),
      [['y', 'a']],
    );
    assert.match(reasons.get('x')!, /needs 2 GPUs .* free; its checkpoint of step 120 is on b$/);
    assert.doesNotMatch(reasons.get('z')!, /checkpoint/);
    for (const [change, reason] of [
      [{ answering: false }, /^the ray-worker of b does not answer; its checkpoint of step 120 is on b$/],
      [{ draining: true }, /^cluster b is draining.*; its checkpoint of step 120 is on b$/],
    ] as const) {
      const closed = [clusters[0]!, { ...clusters[1]!, ...change }];
      const round = scheduleRound({ queued: queued.slice(0, 1), clusters: closed, allocations: none });
      assert.match(round.reasons.get('x')!, reason);
    }
  });

  test('an experiment with a shared checkpoint also starts on a cluster with the same storage, on no other', () => {
    const checkpoint = { cluster: 'b', step: 120 };
    const shared = { ...checkpoint, shared: true as const };
    const clusters = [
      cluster('a', [node('n', 2, 2)], { storage: 'nfs' }),
      cluster('b', [node('m', 2, 2, { gpusUsed: 2 })], { storage: 'nfs' }),
      cluster('c', [node('o', 2, 2)]),
    ];
    const startsOn = (item: Partial<QueuedExperiment>) =>
      scheduleRound({ queued: [waits('x', 2, 2, item)], clusters, allocations: none }).start.map((one) => [
        one.cluster,
        one.abandons,
      ]);
    assert.deepEqual(startsOn({ checkpoint: shared }), [['a', undefined]]);
    assert.deepEqual(startsOn({ checkpoint }), []);
    assert.deepEqual(startsOn({ checkpoint: shared, cluster: 'c' }), []);
  });

  test('an experiment whose checkpoint was on a removed cluster starts on another one, which the start says', () => {
    const checkpoint = { cluster: 'gone', step: 120 };
    const { start } = scheduleRound({
      queued: [waits('x', 2, 2, { checkpoint })],
      clusters: [cluster('a', [node('n', 2, 2)])],
      allocations: none,
    });
    assert.deepEqual(
      start.map((one) => [one.cluster, one.abandons]),
      [['a', checkpoint]],
    );
  });

  test('the round stops when the window of a project is used up, and names the project', () => {
    const clusters = [cluster('a', [node('n', 8, 16)])];
    const queued = [
      waits('a1', 1, 1, { project: 'a' }),
      waits('b1', 1, 1, { project: 'b' }),
      waits('b2', 1, 1, { project: 'b' }),
    ];
    const schedule = scheduleRound({ queued, clusters, allocations: none, truncated: new Set(['a']) });
    assert.deepEqual([started(schedule), schedule.dry, schedule.open], [['a1'], 'a', ['a']]);
  });

  // Fails where the end of such a window ends the schedule: the others would wait for a project that cannot start anyway.
  test('the round continues after the window of a project that can start no more experiments', () => {
    const clusters = [cluster('a', [node('n', 8, 16)])];
    const queued = ['a1', 'a2', 'b1'].map((id) => waits(id, 1, 1, { project: id[0]! }));
    const truncated = new Set(['a']);
    for (const policy of [{ gpuQuota: 1 }, { gpuQuota: null, paused: ' by ann' }]) {
      const projects = new Map([['a', { weight: 1, ...policy }]]);
      const schedule = scheduleRound({ queued, clusters, projects, truncated, allocations: none });
      assert.ok(started(schedule).includes('b1'));
      assert.equal(schedule.dry, null);
    }
  });

  test('the schedule names the clusters on which a later experiment might start', () => {
    const [full, free] = [node('n', 8, 16, { cpusUsed: 16 }), node('m', 8, 16)];
    const places = (...clusters: SchedulerCluster[]) => {
      const queued = [waits('x', 8, 16, { cluster: 'a' })];
      const { open, filling } = scheduleRound({ queued, clusters, allocations: none });
      return [open, filling];
    };
    const busy = node('m', 8, 16, { gpusUsed: 1, cpusUsed: 1 });
    assert.deepEqual(places(cluster('unseen', [])), [[], []]);
    assert.deepEqual(places(cluster('a', [full])), [[], []]);
    assert.deepEqual(places(cluster('a', [full, free]), cluster('b', [full, free])), [['b'], []]);
    assert.deepEqual(places(cluster('a', [full, busy], { backfill: true })), [[], ['a']]);
    assert.deepEqual(places(cluster('a', [full, busy])), [[], []]);
  });

  test('wait reasons name the node that has room first, and for later experiments the blocked head', () => {
    const minutes = (count: number) => exactly(count * 60_000);
    const nodes = (...ids: string[]) => ids.map((id) => node(id, 4, 16, { gpusUsed: 4 }));
    const held = (experiment: string, at: string) => ({
      experiment,
      project: 'default',
      node: at,
      gpus: 4,
      cpus: 1,
    });
    const input = {
      allocations: new Map([
        ['a', [held('o', 'n')]],
        ['b', [held('u', 'm')]],
      ]),
      ends: new Map([
        ['o', minutes(10)],
        ['u', minutes(5)],
      ]),
    };
    const both = [cluster('a', nodes('n')), cluster('b', nodes('m'))];
    for (const clusters of [both, both.toReversed()]) {
      const { reasons } = scheduleRound({ ...input, clusters, queued: [waits('x', 4)] });
      assert.match(reasons.get('x') ?? '', /0 GPUs .*; node m has 4 GPUs free in about 5 min$/);
    }
    const filling = [cluster('a', [...nodes('n'), node('l', 2, 16)], { backfill: true })];
    const queued = [waits('x', 4), waits('none', 3), waits('late', 2)];
    const { reasons, start } = scheduleRound({ ...input, clusters: filling, queued: queued });
    assert.match(
      reasons.get('none') ?? '',
      /^needs 3 GPUs on one node and 1 CPU; the freest node has 2 GPUs/,
    );
    assert.deepEqual(
      start.map(({ experiment }) => experiment),
      ['late'],
    );
  });

  test('an experiment for another cluster blocks no experiment', () => {
    const clusters = [cluster('a', [node('n', 4, 8, { gpusUsed: 4 })]), cluster('b', [node('n', 4, 8)])];
    const queued = [waits('x', 4, 1, { cluster: 'a' }), waits('y', 4, 1, { cluster: 'b' })];
    assert.deepEqual(started(scheduleRound({ queued, clusters, allocations: none })), ['y']);
  });

  test('an experiment that can never fit gets that reason and blocks no other', () => {
    const clusters = [cluster('a', [node('n', 4, 8)])];
    const schedule = scheduleRound({ queued: [waits('x', 5), waits('y', 1)], clusters, allocations: none });
    assert.deepEqual(started(schedule), ['y']);
    assert.match(schedule.reasons.get('x') ?? '', /can never fit: needs 5 GPUs .* at most 4 GPUs and 8 CPUs/);
  });

  test('nothing starts on a draining cluster; an experiment for any cluster starts on another one', () => {
    const draining = cluster('a', [node('n', 4, 8)], { draining: true });
    const pinned = waits('x', 1, 1, { cluster: 'a' });
    const alone = scheduleRound({
      queued: [pinned, waits('y', 1)],
      clusters: [draining],
      allocations: none,
    });
    assert.deepEqual([started(alone), alone.open], [[], []]);
    for (const id of ['x', 'y'])
      assert.match(alone.reasons.get(id) ?? '', /^cluster a is draining: nothing new/);
    const clusters = [draining, cluster('b', [node('m', 4, 8)])];
    const schedule = scheduleRound({ queued: [pinned, waits('y', 1)], clusters, allocations: none });
    assert.deepEqual([started(schedule), schedule.start[0]?.cluster], [['y'], 'b']);
  });

  test('nothing starts on a silent cluster, and the first experiment for it stays its blocked head', () => {
    const silent = cluster('a', [node('n', 4, 8)], { answering: false });
    const schedule = scheduleRound({ queued: [waits('x', 1)], clusters: [silent], allocations: none });
    assert.deepEqual(started(schedule), []);
    assert.match(schedule.reasons.get('x') ?? '', /ray-worker of a does not answer/);
    const unknown = scheduleRound({
      queued: [waits('x', 1, 1, { cluster: 'z' })],
      clusters: [],
      allocations: none,
    });
    assert.match(unknown.reasons.get('x') ?? '', /no cluster z/);
    const empty = scheduleRound({ queued: [waits('x', 1)], clusters: [], allocations: none });
    assert.match(empty.reasons.get('x') ?? '', /no cluster is known/);
  });

  test('usage in Ray and allocations count once, by the larger amount', () => {
    const held = [{ experiment: 'o', project: 'default', node: 'n', gpus: 3, cpus: 2 }];
    assert.deepEqual(freeOn(node('n', 8, 16, { gpusUsed: 2, cpusUsed: 5 }), held), { gpus: 5, cpus: 11 });
  });

  test('decimal fractions of CPUs add up without rounding errors', () => {
    const queued = Array.from({ length: 10 }, (_, index) => waits(`x${index}`, 0, 0.1));
    const schedule = scheduleRound({
      queued,
      clusters: [cluster('a', [node('n', 0, 1)])],
      allocations: none,
    });
    assert.equal(schedule.start.length, 10);
  });
});

/*
 * Histories: arrivals and ends in any order on one or two clusters. After each event the schedule is made and carried
 * out, as the dispatcher does.
 */
interface Running extends Allocation {
  cluster: string;
}

const shapes = fc.array(
  fc.record({
    backfill: fc.boolean(),
    nodes: fc.array(
      fc.record({ gpus: fc.integer({ min: 0, max: 8 }), cpus: fc.integer({ min: 1, max: 16 }) }),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
  }),
  { minLength: 1, maxLength: 2 },
);
const events = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('arrive' as const),
      gpus: fc.integer({ min: 0, max: 8 }),
      cpus: fc.integer({ min: 1, max: 16 }),
      priority: fc.integer({ min: -1, max: 1 }),
      pinned: fc.option(fc.integer({ min: 0, max: 1 })),
    }),
    fc.record({ kind: fc.constant('end' as const), which: fc.nat() }),
  ),
  { maxLength: 40 },
);

function simulate(
  clusters: SchedulerCluster[],
  history: typeof events extends fc.Arbitrary<infer T> ? T : never,
  check: (before: QueuedExperiment[], schedule: ReturnType<typeof scheduleRound>, running: Running[]) => void,
): { queued: QueuedExperiment[]; running: Running[]; settle(): void } {
  let queued: QueuedExperiment[] = [];
  let running: Running[] = [];
  function step(): void {
    const allocations = new Map(
      clusters.map(({ name }) => [name, running.filter((item) => item.cluster === name)]),
    );
    const before = queued;
    const schedule = scheduleRound({ queued, clusters, allocations });
    running = [...running, ...schedule.start.flatMap(allocationsOf)];
    const gone = new Set(schedule.start.map((start) => start.experiment));
    queued = queued.filter((item) => !gone.has(item.experiment));
    check(before, schedule, running);
  }
  let number = 0;
  for (const event of history) {
    if (event.kind === 'arrive') {
      number += 1;
      const pinned = event.pinned === null ? null : (clusters[event.pinned]?.name ?? null);
      const { gpus, cpus, priority } = event;
      queued = [
        ...queued,
        waits(`e${number}`, gpus, cpus, { priority, cluster: pinned, submittedAt: number }),
      ]
        // As the store keeps the line: by priority, then first come first served.
        .toSorted((a, b) => b.priority - a.priority || a.submittedAt - b.submittedAt);
    } else if (running.length > 0) running = running.toSpliced(event.which % running.length, 1);
    step();
  }
  return {
    get queued() {
      return queued;
    },
    get running() {
      return running;
    },
    settle() {
      for (let rounds = 0; running.length > 0 && rounds < 1000; rounds += 1) {
        running = running.slice(1);
        step();
      }
    },
  };
}

function build(shape: typeof shapes extends fc.Arbitrary<infer T> ? T : never): SchedulerCluster[] {
  return shape.map(({ backfill, nodes }, index) =>
    cluster(
      `c${index}`,
      nodes.map(({ gpus, cpus }, at) => node(`n${at}`, gpus, cpus)),
      { backfill },
    ),
  );
}

const couldRunOn = (item: QueuedExperiment, { name, nodes }: SchedulerCluster) =>
  (item.cluster === null || item.cluster === name) && hasRoom(item, emptied(nodes));

describe('over any history', () => {
  test('no node is allocated beyond its size, and every other experiment has a wait reason', () => {
    fc.assert(
      fc.property(shapes, events, (shape, history) => {
        const clusters = build(shape);
        simulate(clusters, history, (before, schedule, running) => {
          for (const { name, nodes } of clusters)
            for (const at of nodes) {
              const here = running.filter((item) => item.cluster === name && item.node === at.id);
              assert.ok(here.reduce((sum, item) => sum + item.gpus, 0) <= at.gpusTotal);
              assert.ok(here.reduce((sum, item) => sum + item.cpus, 0) <= at.cpusTotal);
            }
          assert.equal(schedule.start.length + schedule.reasons.size, before.length);
        });
      }),
    );
  });

  // Fails when a blocked experiment does not hold its place.
  test('on a strict cluster, no experiment starts before an earlier one that waits for it', () => {
    fc.assert(
      fc.property(shapes, events, (shape, history) => {
        const clusters = build(shape);
        simulate(clusters, history, (before, schedule) => {
          const starts = new Map(schedule.start.map((start) => [start.experiment, start.cluster]));
          for (const strict of clusters.filter((item) => !item.backfill)) {
            const first = before.findIndex(
              (item) => !starts.has(item.experiment) && couldRunOn(item, strict),
            );
            if (first < 0) continue;
            for (const item of before.slice(first)) assert.notEqual(starts.get(item.experiment), strict.name);
          }
        });
      }),
    );
  });

  test('every experiment that fits anywhere starts after the others have ended', () => {
    fc.assert(
      fc.property(shapes, events, (shape, history) => {
        const clusters = build(shape);
        const simulation = simulate(clusters, history, () => {});
        simulation.settle();
        for (const item of simulation.queued)
          assert.ok(!clusters.some((one) => couldRunOn(item, one)), `${item.experiment} starved`);
      }),
    );
  });

  // One large experiment against a stream of small ones that would fill every hole forever.
  test('a large experiment starts on a strict cluster although small ones keep arriving', () => {
    const clusters = [cluster('a', [node('n', 8, 64)])];
    let running: Running[] = [];
    let queued: QueuedExperiment[] = [];
    for (let round = 0; round < 50; round += 1) {
      if (round === 5) queued.push(waits('large', 8));
      queued.push(waits(`small${round}a`, 1), waits(`small${round}b`, 1));
      if (running.length > 6) running = running.slice(1);
      if (round > 5) running = running.slice(1);
      const schedule = scheduleRound({ queued, clusters, allocations: new Map([['a', running]]) });
      running = [...running, ...schedule.start.flatMap(allocationsOf)];
      const gone = new Set(started(schedule));
      if (gone.has('large')) return;
      queued = queued.filter((item) => !gone.has(item.experiment));
    }
    assert.fail('the large one starved');
  });
});
