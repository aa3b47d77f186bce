import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newExperimentId } from '../../../src/core/ids.ts';
import { checkpointOf, completeSpec, namedTraining } from '../../../src/engines/named-training.ts';

const experiment = newExperimentId();
const evaluation = (checkpoint: object) => ({ engine: 'verl-agent', evaluation: { checkpoint } });

test('a spec names a training by its id alone, also if the spec is otherwise incomplete', () => {
  assert.deepEqual(namedTraining(evaluation({ experiment })), {
    experiment,
    field: '/evaluation/checkpoint/experiment',
  });
  assert.deepEqual(namedTraining({ engine: 'verl-agent-export', checkpoint: { experiment, step: 3 } }), {
    experiment,
    field: '/checkpoint/experiment',
  });
  for (const spec of [
    evaluation({ experiment, directory: 'a/b' }),
    evaluation({ experiment: 5 }),
    { engine: 'verl-agent', evaluation: 'x' },
    { engine: 'replay', checkpoint: { experiment } },
    { checkpoint: { experiment } },
  ])
    assert.equal(namedTraining(spec), undefined);
});

test('a resolved spec reads a checkpoint if its engine reads one there', () => {
  const found = { directory: 'a/b', pointer: '/evaluation/checkpoint' };
  assert.deepEqual(checkpointOf(evaluation({ directory: 'a/b' })), found);
  assert.equal(checkpointOf({ engine: 'verl-agent', evaluation: {} }), undefined);
  assert.equal(checkpointOf({ engine: 'replay' }), undefined);
});

test('a record of an engine that this version does not have is refused as a training', () => {
  const named = { experiment, field: '/checkpoint/experiment' };
  const record = { id: experiment, state: 'succeeded', checkpoint: null, cluster: 'a' } as const;
  for (const resolved of [{ engine: 'gone' }, undefined, null]) {
    const problem = completeSpec({ engine: 'verl-agent-export', checkpoint: { experiment } }, named, {
      ...record,
      resolved,
    });
    assert.match(JSON.stringify(problem), /which saves no such checkpoint/);
  }
});
