import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { createPlacement, type Placement } from '../../../../src/dispatch/placement/placement.ts';
import type { Lease } from '../../../../src/store/attempts/contract.ts';
import type { Cluster, Reservation } from '../../../../src/store/clusters/contract.ts';
import type { Pause, WaitNote } from '../../../../src/store/queue/contract.ts';
import type { Waiting } from '../../../../src/store/queue/line-contract.ts';
import type { Store } from '../../../../src/store/store.ts';
import { QUIET, until } from '../../../support/dispatch.ts';
import { situationFrom } from '../../../support/line.ts';

const CLUSTER: Cluster = {
  name: 'c',
  address: '',
  token: '',
  ca: null,
  backfill: false,
  generation: null,
  lastSeenAt: 0,
  answering: true,
  nodes: [{ id: 'n', cpusTotal: 2, gpusTotal: 0, cpusUsed: 0, gpusUsed: 0 }],
};

function waits(experiment: string): Waiting {
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

/** A store of one cluster with two CPUs, as far as a placement asks for it. */
function bench(t: TestContext, ids: string[], { cpus = 2, started = true } = {}) {
  const state = {
    waiting: ids.map(waits),
    held: [] as Reservation[],
    version: 0,
    claims: [] as string[],
    left: [] as string[],
    reasons: new Map<string, string>(),
    now: 0,
    beforeClaim: () => {},
    broken: false,
    busy: false,
    projects: [] as { name: string; weight: number; gpuQuota: number | null }[],
    projectVersion: 0,
    paused: null as Pause | null,
  };
  const leases: Lease[] = [];
  const store = {
    async clusters() {
      if (state.broken) throw new Error('away');
      return [{ ...CLUSTER, nodes: [{ ...CLUSTER.nodes[0]!, cpusTotal: cpus }] }];
    },
    lineWindow: async (limit: number) => ({
      waiting: state.waiting.slice(0, limit),
      truncated: new Set(state.waiting.length > limit ? ['p'] : []),
    }),
    projects: async () => state.projects,
    projectVersions: async () => new Map([['p', state.projectVersion]]),
    pauses: async () => ({ line: state.paused, projects: new Map(), clusters: new Map() }),
    paces: async () => new Map(),
    reservations: async () => ({ version: state.version, items: [...state.held] }),
    position: async (id: string) => {
      const index = state.waiting.findIndex((item) => item.experiment === id);
      return { rank: index < 0 ? null : index + 1, length: state.waiting.length };
    },
    async noteWaiting(notes: ReadonlyMap<string, WaitNote>) {
      for (const [id, note] of notes) {
        state.reasons.set(id, note.reason);
        state.waiting = state.waiting.map((item) => (item.experiment === id ? { ...item, ...note } : item));
      }
    },
    async claim(input: Parameters<Store['claim']>[0]) {
      state.beforeClaim();
      state.claims.push(input.experiment);
      if (state.busy) return { outcome: 'busy' };
      if (!state.waiting.some((item) => item.experiment === input.experiment))
        return { outcome: 'not-waiting' };
      if (input.reservationVersion !== state.version) return { outcome: 'changed' };
      if ((input.projectVersion ?? state.projectVersion) !== state.projectVersion)
        return { outcome: 'changed' };
      state.projectVersion += 1;
      state.version += 1;
      state.waiting = state.waiting.filter((item) => item.experiment !== input.experiment);
      state.held.push({ experiment: input.experiment, node: input.node, gpus: 0, cpus: 1 });
      return { outcome: 'claimed', lease: { experiment: input.experiment, attempt: 1, token: 't' } };
    },
  };
  const placement: Placement = createPlacement({
    store: { ...store, situation: situationFrom(store) } as unknown as Store,
    line: {
      async leave(id) {
        state.left.push(id);
      },
    },
    dispatcher: 'd',
    leaseMs: 100,
    everyMs: 2 ** 30,
    now: () => state.now,
    log: QUIET,
    onClaimed: (lease) => leases.push(lease),
  });
  if (started) placement.start();
  t.after(() => placement.stop());
  return { state, placement, leases };
}

describe('placement', () => {
  test('claims what is chosen and asked for, and lets the others wait', async (t) => {
    const { state, placement, leases } = bench(t, ['a', 'b', 'c']);
    const answers = await Promise.all(['a', 'b', 'c', 'z'].map((id) => placement.request(id)));
    assert.deepEqual(answers, ['claimed', 'claimed', 'wait', 'gone']);
    assert.deepEqual(
      leases.map((lease) => lease.experiment),
      ['a', 'b'],
    );
    await placement.stop();
    assert.match(state.reasons.get('c') ?? '', /needs 1 CPU/);
  });

  // Fails where a claim waits for a job: the launch would come as much later as the queue takes to hand it over.
  test('claims what starts before its job is in hand, and takes the job out of the line', async (t) => {
    const { state, leases } = bench(t, ['a', 'b', 'c']);
    await until(() => state.left.length === 2, 'their jobs are out of the line');
    assert.deepEqual(
      [state.claims, state.left],
      [
        ['a', 'b'],
        ['a', 'b'],
      ],
    );
    assert.equal(leases.length, 2);
  });

  test('claims first what is in hand, then all others, some of them in each round', async (t) => {
    const ids = Array.from({ length: 40 }, (_, index) => `e${index}`);
    const { state, placement } = bench(t, ids, { cpus: 40 });
    assert.equal(await placement.request('e30'), 'claimed');
    await until(() => state.claims.length === 40, 'all are claimed');
    assert.deepEqual(state.claims, ['e30', ...ids.filter((id) => id !== 'e30')]);
  });

  // Fails where it looks again: dispatchers at the same starts would refuse each other for as long as there are some.
  test('leaves what is not in hand to whoever claims it at the same time', async (t) => {
    const { state, placement } = bench(t, ['a', 'b']);
    state.beforeClaim = () => {
      if (state.claims.length < 10) state.version += 1;
    };
    await placement.request('z'); // answered by the second round
    await new Promise(setImmediate);
    assert.deepEqual(state.claims, ['a', 'b', 'a', 'b']);
  });

  // Fails where a refusal leads to the next round at once: it would ask as fast as it can until the suspect is settled.
  test('asks once while its dispatcher can claim nothing, and claims after the wake-up', async (t) => {
    const { state, placement } = bench(t, ['a', 'b'], { started: false });
    state.busy = true;
    const asked = placement.request('a');
    placement.start();
    await until(() => state.claims.length > 0, 'it asked');
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    assert.deepEqual(state.claims, ['a']);
    state.busy = false;
    placement.poke();
    assert.equal(await asked, 'claimed');
  });

  test('chooses again where somebody else took the room in between', async (t) => {
    const { state, placement } = bench(t, ['a', 'b']);
    state.beforeClaim = () => {
      state.beforeClaim = () => {};
      state.version += 1;
      state.held.push(
        { experiment: 'x', node: 'n', gpus: 0, cpus: 1 },
        { experiment: 'y', node: 'n', gpus: 0, cpus: 1 },
      );
    };
    assert.equal(await placement.request('a'), 'wait');
    assert.deepEqual(state.claims, ['a']);
    assert.equal(state.held.length, 2);
    await placement.stop();
  });

  // Fails where the claim does not carry the version: two clusters would fill one project's quota twice.
  test('chooses again where its project has got something elsewhere in between', async (t) => {
    const { state, placement } = bench(t, ['a'], { started: false });
    state.projects = [{ name: 'p', weight: 1, gpuQuota: 8 }];
    let claims = 0;
    state.beforeClaim = () => {
      claims += 1;
      if (claims === 1) state.projectVersion += 1;
    };
    const asked = placement.request('a');
    placement.start();
    assert.equal(await asked, 'claimed');
    assert.equal(claims, 2);
    await placement.stop();
  });

  test('claims nothing while the line is paused, and says by whom', async (t) => {
    const { state, placement } = bench(t, ['a'], { started: false });
    state.paused = { by: 'ann', at: 0, reason: 'upgrade' };
    placement.start();
    assert.equal(await placement.request('a'), 'wait');
    await placement.stop();
    assert.deepEqual([state.claims, state.reasons.get('a')], [[], 'the line is paused by ann: upgrade']);
  });

  test('answers gone for one that was claimed or cancelled in between', async (t) => {
    const { state, placement } = bench(t, ['a']);
    state.beforeClaim = () => {
      state.waiting = [];
    };
    assert.equal(await placement.request('a'), 'gone');
    await placement.stop();
  });

  test('holds no job while the store is away, and none after the stop', async (t) => {
    const { state, placement } = bench(t, ['a'], { started: false });
    state.broken = true;
    const asked = placement.request('a');
    placement.start();
    assert.equal(await asked, 'wait');
    state.broken = false;
    assert.equal(await placement.request('a'), 'claimed');
    await placement.stop();
    assert.equal(await placement.request('a'), 'wait');
  });

  test('writes the reasons of a long line once a second, those of a short one at once', async (t) => {
    const ids = Array.from({ length: 40 }, (_, index) => `e${index}`);
    const { state, placement } = bench(t, ids);
    await placement.request('z');
    await until(() => state.reasons.size === 38, 'the first reasons are written');
    assert.match(state.reasons.get('e39') ?? '', /waits behind e2,/);
    state.waiting = state.waiting.filter(({ experiment }) => experiment !== 'e2');
    await placement.request('z');
    assert.match(state.reasons.get('e39') ?? '', /waits behind e2,/, 'not yet');
    state.now += 1_001;
    await placement.request('z');
    await until(() => /waits behind e3,/.test(state.reasons.get('e39') ?? ''), 'they are written again');
  });
});
