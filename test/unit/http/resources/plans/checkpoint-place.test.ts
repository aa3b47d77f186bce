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

test('a spec that reads a checkpoint needs one possible cluster: its own, the only one, or the only one with its labels', () => {
  assert.match(checkpointPlaceProblem(reading({}), CLUSTERS)!.message, /may run on a, b, c\./);
  const labelled = reading({ clusterLabels: { gpu: 'h100' } });
  assert.match(checkpointPlaceProblem(labelled, CLUSTERS)!.message, /may run on a, b\./);
  assert.equal(checkpointPlaceProblem(labelled, CLUSTERS.slice(1)), null);
  assert.equal(checkpointPlaceProblem(reading({}), CLUSTERS.slice(2)), null);
  assert.equal(checkpointPlaceProblem(reading({ cluster: 'b' }), CLUSTERS), null);
  assert.equal(checkpointPlaceProblem(reading({ engine: 'replay' }), CLUSTERS), null);
});
