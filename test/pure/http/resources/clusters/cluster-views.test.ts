import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  clusterView,
  clusterViews,
  withSilence,
} from '../../../../../src/http/resources/clusters/cluster-views.ts';
import type { Cluster } from '../../../../../src/store/clusters/types.ts';
import { partialStore } from '../../../../support/partial-store.ts';
import { clusterRecord } from '../../../../support/store.ts';

const CLUSTER: Cluster = clusterRecord({ name: 'b', address: 'h:1', lastSeenAt: 100_000, answering: true });
const PAUSES = {
  all: null,
  projects: new Map(),
  closed: { all: null, projects: new Map() },
  clusters: new Map([['b', { by: 'ann', at: 1, reason: null }]]),
};
const SILENT: Cluster = { ...CLUSTER, answering: false };
const NEVER: Cluster = { ...SILENT, lastSeenAt: null };
const of = (...clusters: Cluster[]) => ({
  store: partialStore({
    clusters: {
      list: async (names?: readonly string[]) =>
        clusters.filter(({ name }) => names === undefined || names.includes(name)),
      allocations: async () => ({ version: 0, items: [] }),
    },
    queue: { pauses: async () => PAUSES },
  }),
});
const RUNNING = { state: 'running', cluster: 'b', reason: 'launched' } as const;

test('clusters are listed by name, each with its answering and draining state', async () => {
  const views = await clusterViews(of(CLUSTER, { ...NEVER, name: 'a', draining: true }));
  assert.deepEqual(
    views.map(({ name, answering, draining }) => [name, answering, draining]),
    [
      ['a', false, true],
      ['b', true, false],
    ],
  );
});

test('a cluster shows its labels and the name of the operator who paused it', async () => {
  const [view] = await clusterViews(of({ ...CLUSTER, labels: { gpu: 'h100' } }));
  assert.deepEqual([view?.labels, view?.paused], [{ gpu: 'h100' }, { by: 'ann', at: 1, reason: null }]);
});

test('a cluster shows the attempts that the store does not know', async () => {
  const unknownAttempts = [{ experiment: 'exp-lost', attempt: 3 }];
  const views = await clusterViews(of({ ...CLUSTER, unknownAttempts }, { ...CLUSTER, name: 'c' }));
  assert.deepEqual(
    views.map((view) => view.unknownAttempts),
    [unknownAttempts, []],
  );
});

test('an experiment on a silent cluster shows since when the cluster is silent, until the cluster answers', async () => {
  const queued = { ...RUNNING, state: 'queued' } as const;
  const elsewhere = { ...RUNNING, cluster: 'gone' };
  const [silent, waiting, other] = await withSilence(of(SILENT), [RUNNING, queued, elsewhere]);
  assert.equal(silent?.state, 'running');
  assert.match(silent!.reason, /ray-worker of b has not answered since 1970-01-01T00:01:40\.000Z.*launched/);
  assert.deepEqual([waiting, other], [queued, elsewhere]);
  assert.deepEqual(await withSilence(of(CLUSTER), [RUNNING]), [RUNNING]);
  const [never] = await withSilence(of(NEVER), [RUNNING]);
  assert.match(never!.reason, /has not answered yet/);
});

test('withSilence reads only the clusters on which an experiment runs', async () => {
  const asked: unknown[] = [];
  const { store } = of(CLUSTER);
  const list = async (names?: readonly string[]) => {
    asked.push(names);
    return store.clusters.list(names);
  };
  const ended = { ...RUNNING, state: 'failed', cluster: 'a' } as const;
  await withSilence({ store: partialStore({ clusters: { list } }) }, [RUNNING, ended, RUNNING]);
  assert.deepEqual(asked, [['b']]);
});

test('without a running experiment, clusters are not read', async () => {
  const fail = () => assert.fail();
  const store = partialStore({ clusters: { list: fail, allocations: fail }, queue: { pauses: fail } });
  const ended = { ...RUNNING, state: 'failed' } as const;
  assert.deepEqual(await withSilence({ store }, [ended]), [ended]);
});

test('an experiment on several nodes of a cluster is listed once', async () => {
  const item = { experiment: 'gang', project: 'default', gpus: 4, cpus: 4 };
  const items = ['a', 'b'].map((node) => ({ ...item, node }));
  const store = partialStore({ clusters: { allocations: async () => ({ version: 1, items }) } });
  const view = await clusterView({ store }, CLUSTER, PAUSES);
  assert.deepEqual(view.experiments, ['gang']);
});
