import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createClusterRefresh, toClusterNodes, toSeen } from '../../../../src/dispatch/clusters/clusters.ts';
import type { RayWorkerClient, RayWorkerDescription } from '../../../../src/rpc/ray-worker.ts';
import { RayWorkerError } from '../../../../src/rpc/status.ts';
import type { Cluster, Seen } from '../../../../src/store/clusters/types.ts';
import type { Store } from '../../../../src/store/store.ts';
import { QUIET, until } from '../../../support/dispatch.ts';
import { clusterRecord } from '../../../support/store.ts';

const DESCRIPTION: RayWorkerDescription = {
  version: '0.1.0',
  generation: 'g2',
  rayVersion: '2',
  pythonVersion: '3',
  nodeId: 'n',
  sharedRoot: '/',
  engines: [],
  specVersions: [],
  freeDiskBytes: 0,
  startedAt: 0,
  nodes: [
    {
      id: 'n',
      address: 'h',
      alive: true,
      cpusTotal: 8,
      gpusTotal: 4,
      cpusAvailable: 6,
      gpusAvailable: 1,
      draining: null,
      uses: null,
    },
    {
      id: 'dead',
      address: 'h',
      alive: false,
      cpusTotal: 8,
      gpusTotal: 4,
      cpusAvailable: 8,
      gpusAvailable: 4,
      draining: null,
      uses: null,
    },
  ],
};
const CLUSTER: Cluster = clusterRecord({
  name: 'a',
  address: 'h:1',
  backfill: true,
  generation: 'g1',
  lastSeenAt: 100,
});

describe('clusters', () => {
  test('clusters have their live nodes with the amounts used in Ray', () => {
    assert.deepEqual(toClusterNodes(DESCRIPTION), [
      { id: 'n', cpusTotal: 8, gpusTotal: 4, cpusUsed: 2, gpusUsed: 3 },
    ]);
  });

  test('clusters are written as their ray-workers report; a silent one keeps its figures and delays no other', async () => {
    const silent = { ...CLUSTER, name: 'b' };
    const put: [string, Seen][] = [];
    let refreshed = 0;
    const answers: Record<string, () => Promise<RayWorkerDescription>> = {
      a: async () => DESCRIPTION,
      b: async () => {
        throw new RayWorkerError('unreachable', 'away');
      },
    };
    const loop = createClusterRefresh({
      store: {
        clusters: {
          list: async () => [silent, CLUSTER],
          see: async (name: string, seen: Seen) => void put.push([name, seen]),
        },
      } as unknown as Store,
      rayWorkers: {
        of: async (name) => ({ describe: answers[name], list: async () => [] }) as unknown as RayWorkerClient,
        update: () => {},
        close: () => {},
      },
      everyMs: 2 ** 30,
      elapsed: () => 500,
      log: QUIET,
      onRefresh: () => {
        refreshed += 1;
      },
    });
    loop.start();
    await until(() => refreshed === 1, 'one has answered');
    await loop.stop();
    assert.deepEqual(put, [['a', toSeen('h:1', DESCRIPTION)]]);
    assert.deepEqual(put[0]![1], {
      address: 'h:1',
      generation: 'g2',
      nodes: toClusterNodes(DESCRIPTION),
      rayVersion: '2',
      rayWorkerVersion: '0.1.0',
      specVersions: [],
      sharedRoot: '/',
    });
  });

  /* Fails if a cluster that no dispatcher reaches counts: dispatchers would pass its attempts on for ever. */
  test('clusters that only other dispatchers reach are cut off after a while, and are not repaired', async () => {
    const at = { ms: 0, seen: 100, removed: false };
    const asked: string[] = [];
    let lists = 0;
    const loop = createClusterRefresh({
      store: {
        clusters: {
          list: async () => {
            lists += 1;
            return at.removed ? [] : [{ ...CLUSTER, lastSeenAt: at.seen, answering: true }];
          },
          see: async () => {},
        },
      } as unknown as Store,
      rayWorkers: {
        async of() {
          throw new RayWorkerError('unreachable', 'away');
        },
        update: () => {},
        close: () => {},
      },
      everyMs: 2 ** 30,
      elapsed: () => at.ms,
      log: QUIET,
      onRefresh: () => {},
      onSilent: async ({ name }) => void asked.push(name),
    });
    const lookAgain = async (change: Partial<typeof at>) => {
      Object.assign(at, change);
      const before = lists;
      loop.poke();
      await until(() => lists > before, 'it was asked');
      await loop.stop();
      loop.start();
      return [...loop.cutOff()];
    };
    loop.start();
    assert.deepEqual(await lookAgain({}), []);
    assert.deepEqual(await lookAgain({ ms: 29_000 }), [], 'no other dispatcher has reached it');
    assert.deepEqual(await lookAgain({ ms: 29_500, seen: 200 }), [], 'not for long enough');
    assert.deepEqual(await lookAgain({ ms: 61_000, seen: 300 }), ['a']);
    assert.deepEqual(await lookAgain({ removed: true }), []);
    await loop.stop();
    assert.deepEqual(asked, []);
  });

  test('clusters that stay silent are repaired after increasing waits', async () => {
    let now = 0;
    const asked: number[] = [];
    let looks = 0;
    const loop = createClusterRefresh({
      store: { clusters: { list: async () => [CLUSTER] } } as unknown as Store,
      rayWorkers: {
        async of() {
          looks += 1;
          throw new RayWorkerError('unreachable', 'away');
        },
        update: () => {},
        close: () => {},
      },
      everyMs: 2 ** 30,
      elapsed: () => now,
      log: QUIET,
      onRefresh: () => assert.fail(),
      onSilent: async () => void asked.push(now),
    });
    loop.start();
    for (; now <= 300_000; now += 10_000) {
      const before = looks;
      loop.poke();
      await until(() => looks > before, 'it was asked');
    }
    await loop.stop();
    assert.deepEqual(
      asked.slice(0, 3).map((at, index) => at - (asked[index - 1] ?? 0)),
      [30_000, 60_000, 120_000],
    );
  });
});
