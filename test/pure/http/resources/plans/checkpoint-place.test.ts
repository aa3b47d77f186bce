import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkpointPlaceProblem } from '../../../../../src/http/resources/plans/checkpoint-place.ts';

const CLUSTERS = [
  { name: 'a', labels: { gpu: 'h100' } },
  { name: 'b', labels: { gpu: 'h100' } },
  { name: 'c', labels: {} },
];
const reading = (more: object) => ({
  ...{ engine: 'verl-agent-export', checkpoint: { directory: 'p/run' }, cluster: null, clusterLabels: {} },
  ...more,
});

/** A store in which experiments have used the checkpoint on `holders`. */
const store = (...holders: string[]) => ({
  experiments: {
    checkpointClusters: async (directory: string, clusters: readonly string[]) => {
      assert.equal(directory, 'p/run');
      return clusters.filter((name) => holders.includes(name));
    },
  },
});

test('a checkpoint that no experiment has reported needs one possible cluster: its own, the only one, or the only one with its labels', async () => {
  const problem = (more: object, clusters = CLUSTERS) =>
    checkpointPlaceProblem(store(), reading(more), clusters);
  assert.match((await problem({}))!.message, /may run on a, b, c\./);
  const labelled = { clusterLabels: { gpu: 'h100' } };
  assert.match((await problem(labelled))!.message, /may run on a, b\./);
  assert.equal(await problem(labelled, CLUSTERS.slice(1)), null);
  assert.equal(await problem({}, CLUSTERS.slice(2)), null);
  assert.equal(await problem({ cluster: 'b' }), null);
  assert.equal(await problem({ engine: 'replay' }), null);
});

test('a checkpoint that experiments have reported is read only on their clusters', async () => {
  const problem = (more: object, ...holders: string[]) =>
    checkpointPlaceProblem(store(...holders), reading(more), CLUSTERS);
  assert.deepEqual(await problem({ cluster: 'b' }, 'a', 'c'), {
    field: '/cluster',
    message: 'must be a or c, which has the checkpoints in p/run',
  });
  assert.equal((await problem({}, 'a'))!.field, '/cluster');
  assert.equal(await problem({ cluster: 'c' }, 'a', 'c'), null);
  assert.equal(await problem({ clusterLabels: { gpu: 'h100' } }, 'a', 'b'), null);
});
