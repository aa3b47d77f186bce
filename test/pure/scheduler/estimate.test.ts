import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateStarts } from '../../../src/scheduler/estimate.ts';
import { type ScheduleInput, scheduleRound } from '../../../src/scheduler/schedule.ts';
import { type Arrival, cluster, exactly, node, play, waits } from '../../support/queue.ts';

const NODE = [node('n', 8, 64)];
const held = (experiment: string, gpus: number, more = {}) => ({
  experiment,
  project: 'default',
  node: 'n',
  gpus,
  cpus: 1,
  ...more,
});

function estimates(input: ScheduleInput) {
  return estimateStarts(input, scheduleRound(input));
}

test('the head starts at the end of the running experiment, and the next one at the end of the head', () => {
  const found = estimates({
    queued: [waits('x', 8), waits('y', 8)],
    clusters: [cluster('a', NODE)],
    allocations: new Map([['a', [held('o', 8)]]]),
    ends: new Map([['o', { early: 50, likely: 100, late: 150 }]]),
    lengths: new Map([['x', { early: 10, likely: 20, late: 30 }]]),
    now: 7,
  });
  assert.deepEqual(found.get('x')?.at, { early: 50, likely: 100, late: 150 });
  assert.deepEqual(found.get('y')?.at, { early: 60, likely: 120, late: 180 });
});

test('the reason for a missing estimate names the experiment whose run time is unknown', () => {
  const input: ScheduleInput = {
    queued: [waits('x', 8), waits('y', 8)],
    clusters: [cluster('a', NODE)],
    allocations: new Map([['a', [held('o', 8)]]]),
  };
  assert.match(
    estimates(input).get('x')?.why ?? '',
    /the run time of o, which is in the way, is not known yet/,
  );
  assert.match(estimates(input).get('y')?.why ?? '', /waits for x, whose start is not known/);
  const known = estimates({ ...input, ends: new Map([['o', exactly(9)]]) });
  assert.equal(known.get('x')?.at?.likely, 9);
  assert.match(known.get('y')?.why ?? '', /the run time of x, .* is not known yet/);
  const closed = estimates({ ...input, paused: ' by ann' });
  assert.equal(closed.get('x')?.why, 'the queue is paused by ann');
});

test('an experiment that waits for its quota starts when its project releases GPUs', () => {
  const found = estimates({
    queued: [waits('x', 2), waits('y', 2, 1, { project: 'q' }), waits('z', 2)],
    clusters: [cluster('a', [node('n', 6, 64)])],
    allocations: new Map([['a', [held('o', 4, { project: 'p' })]]]),
    projects: new Map([['p', { weight: 1, gpuQuota: 4 }]]),
    ends: new Map([['o', exactly(90)]]),
    lengths: new Map([['x', exactly(5)]]),
  });
  assert.deepEqual([...found.keys()], ['x', 'z']);
  assert.deepEqual([found.get('x')?.at, found.get('z')?.at], [exactly(90), exactly(90)]);
});

/* Fails if GPUs of other projects count towards the quota, or if the quota is checked only after its GPUs are free. */
test('an experiment waits for its quota although there is room, and GPUs of other projects do not help', () => {
  const found = estimates({
    queued: [waits('x', 2), waits('y', 3)],
    clusters: [cluster('a', [node('n', 32, 64)])],
    allocations: new Map([['a', [held('o', 4, { project: 'p' }), held('r', 4, { project: 'q' })]]]),
    projects: new Map([['p', { weight: 1, gpuQuota: 4 }]]),
    ends: new Map([
      ['o', { early: 80, likely: 90, late: 95 }],
      ['r', exactly(10)],
    ]),
    lengths: new Map([['x', exactly(5)]]),
    now: 1,
  });
  assert.deepEqual(found.get('x')?.at, { early: 80, likely: 90, late: 95 });
  assert.deepEqual(found.get('y')?.at, { early: 85, likely: 95, late: 100 }, 'after x');
});

/* Fails if the CPUs of an ended experiment are not released. */
test('experiments without GPUs follow each other on the CPUs', () => {
  const found = estimates({
    queued: [waits('x', 0, 4), waits('y', 0, 4)],
    clusters: [cluster('a', [node('n', 0, 4)])],
    allocations: new Map([['a', [held('o', 0, { cpus: 4 })]]]),
    ends: new Map([['o', exactly(10)]]),
    lengths: new Map([['x', exactly(7)]]),
  });
  assert.deepEqual([found.get('x')?.at, found.get('y')?.at], [exactly(10), exactly(17)]);
});

/* Fails if bounds are compared instead of likely times. */
test('of two clusters, the one that most likely has room first counts', () => {
  const found = estimates({
    queued: [waits('x', 8)],
    clusters: [cluster('a', NODE), cluster('b', NODE)],
    allocations: new Map([
      ['a', [held('o', 8)]],
      ['b', [held('u', 8)]],
    ]),
    ends: new Map([
      ['o', { early: 5, likely: 20, late: 30 }],
      ['u', { early: 15, likely: 18, late: 40 }],
    ]),
  });
  assert.deepEqual(found.get('x')?.at, { early: 15, likely: 18, late: 40 });
});

// A simulation of the same queue gives the true starts, because all run times are known and no experiment overtakes.
test('if all run times are known, experiments start at their estimates on any clusters', () => {
  const random = createRandom(7);
  for (let run = 0; run < 50; run += 1) {
    const more = [node('m', 8, 64), node('o', 4, 64)];
    const clusters =
      run % 2 === 0 ? [cluster('a', NODE)] : [cluster('a', [...NODE, ...more]), cluster('b', NODE)];
    const arrivals: Arrival[] = Array.from({ length: 30 }, (_, at) => ({
      at: 0,
      item: waits(`e${at}`, 1 + Math.floor(random() * 8)),
      length: 10 + Math.floor(random() * 90),
    }));
    let found: ReturnType<typeof estimateStarts> | undefined;
    const { started } = play({
      clusters,
      arrivals,
      known: () => true,
      check: ({ input, schedule, lengths }) => {
        const all = new Map([...lengths].map(([id, length]) => [id, exactly(length)]));
        found ??= estimateStarts({ ...input, lengths: all }, schedule);
      },
    });
    for (const [experiment, { at }] of found!)
      assert.equal(at?.likely, started.get(experiment), `${experiment} in run ${run}`);
  }
});

test('an experiment whose last attempt was lost is not expected before it may start again', () => {
  const found = estimates({
    queued: [waits('x', 8, 1, { notBefore: 200 }), waits('y', 8)],
    clusters: [cluster('a', NODE)],
    allocations: new Map([['a', [held('o', 8)]]]),
    ends: new Map([['o', exactly(100)]]),
    lengths: new Map([['y', exactly(50)]]),
    now: 7,
  });
  assert.deepEqual([found.get('y')?.at, found.get('x')?.at], [exactly(100), exactly(200)]);
});

function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
