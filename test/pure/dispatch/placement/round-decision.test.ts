import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRoundDecider } from '../../../../src/dispatch/placement/round-decision.ts';
import type { Pace, QueuedExperiment } from '../../../../src/store/queue/types.ts';
import type { Store } from '../../../../src/store/store.ts';
import { node, snapshotFrom, waits } from '../../../support/queue.ts';
import { clusterRecord } from '../../../support/store.ts';

function bench(
  queued: QueuedExperiment[],
  { quota = null as number | null, gpus = 4, backfill = false } = {},
) {
  const asked: number[] = [];
  const state = {
    now: 0,
    readMs: 0,
    paces: 0,
    asked: 0,
    pauses: new Map(),
    pace: undefined as Pace | undefined,
  };
  const projects = [...new Set(queued.map(({ project }) => project))];
  const store = {
    clusters: {
      list: async () => [
        clusterRecord({
          name: 'c',
          address: '',
          token: '',
          backfill,
          lastSeenAt: 0,
          answering: true,
          nodes: [node('n', gpus, 1000)],
        }),
      ],
      allocations: async () => ({
        version: 3,
        items: [{ experiment: 'o', node: 'n', gpus: 1, cpus: 1, project: 'p' }],
      }),
    },
    projects: {
      list: async () => projects.map((name) => ({ name, weight: 1, gpuQuota: name === 'p' ? quota : null })),
    },
    queue: {
      projectVersions: async () => new Map([['p', 7]]),
      pauses: async () => ({ all: null, projects: state.pauses, clusters: new Map() }),
      paces: async (ids: readonly string[]) => {
        state.paces += 1;
        state.asked = ids.length;
        return new Map(state.pace ? [['o', state.pace]] : []);
      },
      window: async (limit: number) => {
        asked.push(limit);
        state.now += state.readMs;
        const shown = projects.flatMap((name) =>
          queued.filter(({ project }) => project === name).slice(0, limit),
        );
        const truncated = projects.filter(
          (name) => queued.filter(({ project }) => project === name).length > limit,
        );
        return { queued: queued.filter((item) => shown.includes(item)), truncated: new Set(truncated) };
      },
    },
  };
  const all = { queue: { ...store.queue, snapshot: snapshotFrom(store, () => state.now) } };
  const decide = createRoundDecider({ store: all as unknown as Store, elapsed: () => state.now });
  return { decide, asked, state };
}

const many = (count: number, project: string, gpus = 1) =>
  Array.from({ length: count }, (_, at) => waits(`${project}${at}`, gpus, 1, { project }));

test('a blocked queue is read no further than its first window', async () => {
  const { decide, asked } = bench(many(5_000, 'p'));
  const { schedule } = await decide();
  assert.deepEqual([asked, schedule.start.length], [[256], 3]);
});

test('the window grows while a later experiment could start', async () => {
  const queued = [...many(2_000, 'p', 99), ...many(1, 'p', 1)].map((item, at) => ({
    ...item,
    experiment: `e${at}`,
  }));
  const { decide, asked } = bench(queued);
  const { schedule } = await decide();
  assert.deepEqual(
    [asked, schedule.start.map(({ experiment }) => experiment)],
    [[256, 1024, 4096], ['e2000']],
  );
});

test('the window for backfill is bounded', async () => {
  const { decide, asked } = bench(many(5_000, 'p', 4), { backfill: true });
  const { schedule } = await decide();
  assert.deepEqual([asked, schedule.open, schedule.filling], [[256, 1024], [], ['c']]);
});

// Fails where the end of a look is not noted: all that wait for a full cluster would be read again and again for an idle one.
test('a long window without a new start is not repeated at once; one with a new start is', async () => {
  const queued = many(20_000, 'p', 99);
  const { decide, asked, state } = bench(queued);
  state.readMs = 100;
  await decide();
  assert.deepEqual(asked.splice(0), [256, 1024, 4096, 16384]);
  for (const [now, read] of [
    [1_400, [256]],
    [1_600, [256, 1024, 4096, 16384]],
  ] as const) {
    state.now = now;
    await decide();
    assert.deepEqual(asked.splice(0), read);
  }
  queued[500] = waits('small', 1, 1, { project: 'p' });
  state.now = 10_000;
  for (let looks = 0; looks < 2; looks += 1) {
    await decide();
    assert.deepEqual(asked.splice(0), [256, 1024, 4096, 16384]);
  }
});

// Fails without `isClosed`: each round would read the whole line of a project that has used its quota up.
test('a project with a full quota does not extend the window, and other projects start', async () => {
  const { decide, asked } = bench([...many(5_000, 'p'), ...many(2, 'q')], { quota: 1 });
  const { schedule, projectVersions } = await decide();
  assert.deepEqual([asked, schedule.start.map(({ experiment }) => experiment)], [[256], ['q0', 'q1']]);
  assert.deepEqual([...projectVersions], [['p', 7]]);
});

test('wait reasons name the person who paused a queue', async () => {
  const { decide, state } = bench([...many(1, 'p'), ...many(1, 'q')]);
  state.pauses = new Map([['p', { by: 'ann', at: 0, reason: null }]]);
  const { schedule } = await decide();
  assert.equal(schedule.reasons.get('p0'), 'the queue of p is paused by ann');
  assert.deepEqual(
    schedule.start.map(({ experiment }) => experiment),
    ['q0'],
  );
});

test('reads paces at most once a second', async () => {
  const { decide, state } = bench(many(1, 'p', 4));
  state.pace = {
    attempt: 1,
    startedAt: 0,
    steps: 2,
    kept: 0,
    sweep: null,
    timeoutMs: null,
    timeoutAt: null,
    step: { number: 2, at: 0 },
    perStep: { count: 2, meanMs: 60_000, deviationMs: 0 },
  };
  const { schedule } = await decide();
  assert.match(schedule.reasons.get('p0') ?? '', /node n has 4 GPUs free in about 1 min/);
  state.now = 999;
  await decide();
  assert.equal(state.paces, 1);
  state.now = 1_000;
  await decide();
  assert.equal(state.paces, 2);
});

// Fails if the longer window uses the paces of the first one: no later experiment would be known to end in time.
test('a longer window reads the paces of its additional experiments', async () => {
  const { decide, state } = bench(many(2_000, 'p', 4), { backfill: true });
  await decide();
  assert.deepEqual([state.paces, state.asked], [2, 1 + 512]);
});
