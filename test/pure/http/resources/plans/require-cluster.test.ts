import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EchelonError } from '../../../../../src/core/errors.ts';
import { requireCluster, requirePlace } from '../../../../../src/http/resources/plans/require-cluster.ts';
import type { Cluster } from '../../../../../src/store/clusters/contract.ts';

const cluster = (name: string, labels: Record<string, string> = {}) =>
  ({ name, labels }) as unknown as Cluster;
const all = [cluster('fleet', { gpu: 'h100' }), cluster('spare')];
const store = {
  clusters: {
    list: async (names?: readonly string[]) =>
      all.filter(({ name }) => names === undefined || names.includes(name)),
  },
  experiments: { checkpointClusters: () => assert.fail() },
};

const problemOf = async (refused: Promise<void>) => {
  const error = await refused.then(
    () => assert.fail('it was accepted'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof EchelonError && error.code === 'invalid-spec');
  return error.problems[0]!;
};

test('requirePlace accepts a known cluster, its labels, and no cluster at all', async () => {
  await requirePlace(store, { cluster: null, clusterLabels: {} });
  await requirePlace(store, { cluster: 'spare', clusterLabels: {} });
  await requirePlace(store, { cluster: 'fleet', clusterLabels: { gpu: 'h100' } });
});

test('a spec without cluster and labels reads nothing from the store', async () => {
  await requirePlace(
    { ...store, clusters: { list: () => assert.fail() } },
    { cluster: null, clusterLabels: {} },
  );
});

test('an unknown cluster or label is refused with the nearest name or the known ones', async () => {
  const unknown = await problemOf(requireCluster(store, 'fleat'));
  assert.deepEqual([unknown.field, /did you mean fleet/.test(unknown.message)], ['/cluster', true]);
  assert.match(
    (await problemOf(requireCluster(store, 'elsewhere'))).message,
    /known: fleet, spare; leave it out/,
  );
  const labels = await problemOf(requirePlace(store, { cluster: 'spare', clusterLabels: { gpu: 'h100' } }));
  assert.deepEqual([labels.field, /spare does not have/.test(labels.message)], ['/clusterLabels', true]);
});
