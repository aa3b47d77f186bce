import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createClusterCommands, requestRepair } from '../../../../src/dispatch/clusters/cluster-commands.ts';
import type { CommandWork } from '../../../../src/dispatch/clusters/command-runner.ts';
import type { SetUp } from '../../../../src/dispatch/clusters/setup/set-up.ts';
import type { RayPlace } from '../../../../src/store/clusters/types.ts';
import { claimed, type Scope, storeFor, submitInput } from '../../../support/store.ts';

const REQUEST = {
  address: 'ray://h:1',
  sharedRoot: '/s',
  node: null,
  port: null,
  advertise: null,
  backfill: true,
};
const SECRET = JSON.stringify({ token: 'CANARY', tls: null });

function setUpAs(generation: string, node = 'node-1'): SetUp {
  const nodes = [
    {
      id: node,
      address: 'h',
      alive: true,
      cpusTotal: 8,
      gpusTotal: 2,
      cpusAvailable: 8,
      gpusAvailable: 2,
      draining: null,
      uses: null,
    },
  ];
  const description = {
    version: '0.1.0',
    generation,
    rayVersion: '2.60.0',
    pythonVersion: '3.11',
    nodeId: node,
    sharedRoot: '/s',
    nodes,
    engines: [],
    specVersions: [],
    freeDiskBytes: 1,
    startedAt: 0,
  };
  return { address: 'h:7400', token: 'worker-token', ca: null, description };
}

async function bench(scope: Scope) {
  const { store } = await storeFor(scope);
  const said: string[] = [];
  const warned: string[] = [];
  const ended: RayPlace[] = [];
  const state = { setUp: setUpAs('g1'), endFails: false, given: undefined as RayPlace | undefined };
  const run = createClusterCommands({
    store,
    pack: () => ({ zip: new Uint8Array(), version: '0.1.0' }),
    preflight: () => assert.fail(),
    setUp: async (_name, place) => {
      state.given = place;
      return state.setUp;
    },
    endRayWorker: async (place) => {
      if (state.endFails) throw new Error('away');
      ended.push(place);
    },
  });
  const work = (kind: CommandWork['kind'], more: Partial<CommandWork> = {}): CommandWork => ({
    kind,
    cluster: 'local',
    request: kind === 'add' ? REQUEST : {},
    tries: 1,
    secret: kind === 'add' ? SECRET : null,
    say: async (line) => void said.push(line),
    warn: (message, remedy) => void warned.push(`${message} ${remedy}`),
    found: () => {},
    signal: new AbortController().signal,
    ...more,
  });
  return { store, said, warned, ended, state, run, work };
}

describe('add', () => {
  test('an add records address, nodes and secrets, and ends draining', async (t) => {
    const { store, run, work, state } = await bench(t);
    await run(work('add'));
    const [cluster] = await store.clusters.list();
    const { backfill, ...place } = REQUEST;
    assert.deepEqual(state.given, { ...place, token: 'CANARY', tls: null });
    assert.deepEqual(cluster?.ray, state.given);
    assert.deepEqual(
      [cluster?.address, cluster?.token, cluster?.backfill],
      ['h:7400', 'worker-token', backfill],
    );
    assert.deepEqual([cluster?.generation, cluster?.answering, cluster?.nodes.length], ['g1', true, 1]);
    await run(work('drain'));
    await run(work('add'));
    assert.equal((await store.clusters.list())[0]!.draining, undefined);
  });

  test('an add of the same Ray cluster under another name is refused', async (t) => {
    const { store, run, work } = await bench(t);
    await run(work('add'));
    await assert.rejects(run(work('add', { cluster: 'duplicate' })), /already registered as local/);
    assert.equal((await store.clusters.list()).length, 1);
  });

  test("a repair keeps the operator's settings and does not restore a removed cluster", async (t) => {
    const { store, run, work } = await bench(t);
    const repair = { request: { ...REQUEST, backfill: false, repair: true } };
    await run(work('add', repair));
    assert.deepEqual(await store.clusters.list(), []);
    await run(work('add'));
    await run(work('drain'));
    await run(work('add', repair));
    const [cluster] = await store.clusters.list();
    assert.deepEqual([cluster?.backfill, cluster?.draining], [true, true]);
  });

  test('an interrupted add writes nothing', async (t) => {
    const { store, run, work } = await bench(t);
    await assert.rejects(run(work('add', { signal: AbortSignal.abort() })));
    assert.deepEqual(await store.clusters.list(), []);
  });
});

describe('remove', () => {
  test('a removal ends the ray-worker and deletes the record; a repeated removal succeeds', async (t) => {
    const { store, run, work, ended, state } = await bench(t);
    await run(work('add'));
    await run(work('remove'));
    assert.deepEqual([await store.clusters.list(), ended], [[], [state.given]]);
    await run(work('remove', { tries: 2 }));
    await assert.rejects(run(work('remove')), /no cluster local/);
  });

  test('a removal is refused while an experiment runs, and changes nothing', async (t) => {
    const { store, run, work, ended } = await bench(t);
    await run(work('add'));
    const { id } = await store.experiments.submit(submitInput());
    await claimed(store, id);
    await assert.rejects(run(work('remove')), new RegExp(`runs 1 experiment: ${id}`));
    assert.equal((await store.clusters.list())[0]!.draining, undefined);
    assert.deepEqual(ended, []);
  });

  test('the removal of an unreachable cluster only warns', async (t) => {
    const { store, run, work, warned, state } = await bench(t);
    await run(work('add'));
    state.endFails = true;
    await run(work('remove'));
    assert.deepEqual(await store.clusters.list(), []);
    assert.match(
      warned.join(),
      /Cannot end its ray-worker: away.*ray\.kill\(ray\.get_actor\(.echelon-ray-worker.\)\)/s,
    );
  });
});

test('a drain reports how many experiments continue', async (t) => {
  const { store, run, work, said } = await bench(t);
  await assert.rejects(run(work('drain')), /no cluster local/);
  await run(work('add'));
  const { id } = await store.experiments.submit(submitInput());
  await claimed(store, id);
  await run(work('drain'));
  assert.match(said.at(-1)!, /1 experiment there continues/);
  assert.equal((await store.clusters.list())[0]!.draining, true);
});

test('a repair is requested once at a time, and only for a cluster that was added through Ray', async (t) => {
  const { store, run, work } = await bench(t);
  await run(work('add'));
  const [cluster] = await store.clusters.list();
  await requestRepair(store, cluster!);
  await requestRepair(store, cluster!);
  const [open, another] = await store.commands.open();
  assert.equal(another, undefined);
  const taken = await store.commands.claim({ id: open!.id, dispatcher: 'd', leaseMs: 1000 });
  assert.ok(taken.outcome === 'claimed');
  assert.deepEqual(taken.claimed.request, { ...REQUEST, repair: true });
  assert.equal(taken.claimed.secret, SECRET);
  const { ray: _ray, ...byAddress } = cluster!;
  await requestRepair(store, { ...byAddress, name: 'other' });
  assert.equal((await store.commands.open()).length, 1);
});
