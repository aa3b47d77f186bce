import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newExperimentId } from '../../../src/core/ids.ts';
import { CheckpointReference, referenceProblems } from '../../../src/engines/checkpoint-reference.ts';
import { createCheck } from '../../../src/schemas/check.ts';

test('a reference accepts the id of an experiment and a directory of two names, and nothing that leads elsewhere', () => {
  const check = createCheck(CheckpointReference);
  assert.deepEqual(check({ experiment: newExperimentId(), step: 3 }), []);
  assert.deepEqual(check({ directory: 'project/k2_x-0123456789' }), []);
  for (const directory of ['x', '/a/b', '../b', 'a/..', 'a/b/c'])
    assert.equal(check({ directory }).length, 1);
  for (const experiment of ['', 'swp-0123456789abcdefghjk', 'exp-1'])
    assert.equal(check({ experiment }).length, 1);
});

test('a reference that was not completed needs a directory and no training beside it', () => {
  const fields = (reference: CheckpointReference) =>
    referenceProblems(reference, '/checkpoint').map(({ field }) => field);
  const experiment = newExperimentId();
  assert.deepEqual(fields({ directory: 'a/b' }), []);
  assert.deepEqual(fields({ step: 1 }), ['/checkpoint']);
  assert.deepEqual(fields({ experiment }), ['/checkpoint/experiment']);
  assert.deepEqual(fields({ experiment, directory: 'a/b' }), ['/checkpoint/experiment']);
  const [problem] = referenceProblems({ experiment, directory: 'a/b' }, '');
  assert.match(problem!.message, /contradicts directory/);
});
