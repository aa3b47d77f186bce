import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { createSchedulingRounds } from '../../../../src/dispatch/placement/scheduling-round.ts';
import type { Pause } from '../../../../src/schemas/answer-parts.ts';
import type { Allocation, Cluster } from '../../../../src/store/clusters/types.ts';
import type { QueuedExperiment, WaitNote } from '../../../../src/store/queue/types.ts';
import type { Store } from '../../../../src/store/store.ts';
import { QUIET, until } from '../../../support/dispatch.ts';
import { snapshotFrom } from '../../../support/queue.ts';
import { clusterRecord } from '../../../support/store.ts';

const CLUSTER: Cluster = clusterRecord({
  name: 'c',
  address: '',
  token: '',
  lastSeenAt: 0,
  answering: true,
  nodes: [{ id: 'n', cpusTotal: 2, gpusTotal: 0, cpusUsed: 0, gpusUsed: 0 }],
});

function waits(experiment: string): QueuedExperiment {
  return {
    experiment,
    name: '',
    project: 'p',
    priority: 0,
    cluster: null,
    gpus: 0,
    cpus: 1,
    submittedAt: 0,
    reason: null,
  };
}

/** A store of one cluster with two CPUs, as far as scheduling rounds ask for it. */
function bench(t: TestContext, ids: string[], { cpus = 2, started = true } = {}) {
  const state = {
    queued: ids.map(waits),
    held: [] as Allocation[],
    version: 0,
    allocations: [] as string[],
    released: [] as string[],
    rounds: 0,
    reasons: new Map<string, string>(),
    now: 0,
    beforeAllocation: () => {},
    broken: false,
    queueAway: false,
    projects: [] as { name: string; weight: number; gpuQuota: number | null }[],
    projectVersion: 0,
    paused: null as Pause | null,
  };
  const store = {
    clusters: {
      async list() {
        state.rounds += 1;
        if (state.broken) throw new Error('away');
        return [{ ...CLUSTER, nodes: [{ ...CLUSTER.nodes[0]!, cpusTotal: cpus }] }];
      },
      allocations: async () => ({ version: state.version, items: [...state.held] }),
    },
    projects: { list: async () => state.projects },
    queue: {
      window: async (limit: number) => ({
        queued: state.queued.slice(0, limit),
        truncated: new Set(state.queued.length > limit ? ['p'] : []),
      }),
      projectVersions: async () => new Map([['p', state.projectVersion]]),
      pauses: async () => ({ all: state.paused, projects: new Map(), clusters: new Map() }),
      paces: async () => new Map(),
      async note(notes: ReadonlyMap<string, WaitNote>) {
        for (const [id, note] of notes) {
          state.reasons.set(id, note.reason);
          state.queued = state.queued.map((item) => (item.experiment === id ? { ...item, ...note } : item));
        }
      },
    },
    attempts: {
      async allocate(starts: Parameters<Store['attempts']['allocate']>[0]) {
        if (starts.length > 0) state.beforeAllocation();
        const { version, projectVersion } = state;
        return starts.map((input) => {
          state.allocations.push(input.experiment);
          if (!state.queued.some((item) => item.experiment === input.experiment)) return 'not-queued';
          if (input.allocationVersion !== version) return 'changed';
          if ((input.projectVersion ?? projectVersion) !== projectVersion) return 'changed';
          state.projectVersion += 1;
          state.version += 1;
          state.queued = state.queued.filter((item) => item.experiment !== input.experiment);
          const { experiment, project, nodes } = input;
          state.held.push({ experiment, project, node: nodes[0]!.id, gpus: 0, cpus: 1 });
          return 'allocated';
        });
      },
    },
  };
  const rounds = createSchedulingRounds({
    store: {
      ...store,
      queue: { ...store.queue, snapshot: snapshotFrom(store, () => state.now) },
    } as unknown as Store,
    queue: {
      async release(id) {
        state.released.push(id);
        if (state.queueAway) throw new Error('away');
        return true;
      },
    },
    everyMs: 2 ** 30,
    elapsed: () => state.now,
    log: QUIET,
  });
  if (started) rounds.start();
  t.after(() => rounds.stop());
  /** One more round, from its beginning to its end. */
  const again = async () => {
    const before = state.rounds;
    rounds.poke();
    await until(() => state.rounds > before, 'another round begins');
    await settled();
  };
  return { state, rounds, again };
}

/** Lets a round that is under way come to its end: its store answers at once. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
}

describe('a scheduling round', () => {
  test('allocates to the chosen experiments and releases their jobs; the others wait', async (t) => {
    const { state } = bench(t, ['a', 'b', 'c']);
    await until(() => state.reasons.size === 1, 'the third has a wait reason');
    assert.deepEqual(
      [state.allocations, state.released],
      [
        ['a', 'b'],
        ['a', 'b'],
      ],
    );
    assert.match(state.reasons.get('c') ?? '', /needs 1 CPU/);
  });

  test('starts many experiments, some of them in each round', async (t) => {
    const ids = Array.from({ length: 200 }, (_, index) => `e${index}`);
    const { state } = bench(t, ids, { cpus: 200 });
    await until(() => state.released.length === 200, 'all are released');
    assert.deepEqual([state.allocations, state.released], [ids, ids]);
  });

  // Fails if it decides again at once: dispatchers with the same starts would refuse each other as long as there are some.
  test('leaves the starts to the dispatcher that allocates at the same time', async (t) => {
    const { state, again } = bench(t, ['a', 'b']);
    state.beforeAllocation = () => {
      if (state.allocations.length < 10) state.version += 1;
    };
    await settled();
    await again();
    assert.deepEqual([state.allocations, state.released], [['a', 'b', 'a', 'b'], []]);
  });

  test('decides again if an experiment has left the queue in between', async (t) => {
    const { state } = bench(t, ['a', 'b', 'c'], { started: true });
    state.beforeAllocation = () => {
      state.beforeAllocation = () => {};
      state.queued = state.queued.filter(({ experiment }) => experiment !== 'a');
    };
    await until(() => state.released.length === 2, 'the others start without a wake-up');
    assert.deepEqual(state.released.toSorted(), ['b', 'c']);
  });

  test('decides on the new state after another dispatcher took the room', async (t) => {
    const { state, again } = bench(t, ['a', 'b']);
    state.beforeAllocation = () => {
      state.beforeAllocation = () => {};
      state.version += 1;
      state.held.push(
        { experiment: 'x', node: 'n', gpus: 0, cpus: 1, project: 'default' },
        { experiment: 'y', node: 'n', gpus: 0, cpus: 1, project: 'default' },
      );
    };
    await until(() => state.allocations.length === 2, 'it tried to allocate');
    await again();
    assert.deepEqual([state.allocations, state.held.length, state.released], [['a', 'b'], 2, []]);
  });

  // Fails if the allocation does not carry the version: two clusters would fill one project's quota twice.
  test('a scheduling round is decided again after the project got an allocation on another cluster', async (t) => {
    const { state, rounds, again } = bench(t, ['a'], { started: false });
    state.projects = [{ name: 'p', weight: 1, gpuQuota: 8 }];
    let tries = 0;
    state.beforeAllocation = () => {
      tries += 1;
      if (tries === 1) state.projectVersion += 1;
    };
    rounds.start();
    await settled();
    assert.deepEqual(state.released, []);
    await again();
    assert.deepEqual([tries, state.released], [2, ['a']]);
  });

  test('allocates nothing while the queue is paused, and names the person who paused it', async (t) => {
    const { state, rounds } = bench(t, ['a'], { started: false });
    state.paused = { by: 'ann', at: 0, reason: 'upgrade' };
    rounds.start();
    await until(() => state.reasons.size === 1, 'the reason is written');
    assert.deepEqual(
      [state.allocations, state.reasons.get('a')],
      [[], 'the queue is paused by ann: upgrade'],
    );
  });

  test('a scheduling round is repeated after the store was away, and not after the stop', async (t) => {
    const { state, rounds, again } = bench(t, ['a', 'b', 'c'], { started: false });
    state.broken = true;
    rounds.start();
    await settled();
    state.broken = false;
    await again();
    assert.deepEqual(state.released, ['a', 'b']);
    await rounds.stop();
    state.held = [];
    rounds.poke();
    await settled();
    assert.deepEqual(state.released, ['a', 'b']);
  });

  test('continues although a job cannot be released: the reconciler does it', async (t) => {
    const { state, rounds } = bench(t, ['a', 'b', 'c'], { started: false });
    state.queueAway = true;
    rounds.start();
    await until(() => state.reasons.size === 1, 'the third has a wait reason');
    assert.deepEqual(state.allocations, ['a', 'b']);
  });

  test('writes the reasons of a long queue once a second, those of a short one at once', async (t) => {
    const ids = Array.from({ length: 40 }, (_, index) => `e${index}`);
    const { state, again } = bench(t, ids);
    await until(() => state.reasons.size === 38, 'the first reasons are written');
    assert.match(state.reasons.get('e39') ?? '', /waits for e2,/);
    state.queued = state.queued.filter(({ experiment }) => experiment !== 'e2');
    await again();
    assert.match(state.reasons.get('e39') ?? '', /waits for e2,/, 'not yet');
    state.now += 1_001;
    await again();
    await until(() => /waits for e3,/.test(state.reasons.get('e39') ?? ''), 'they are written again');
  });
});
