import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  ESTIMATOR_NAMES,
  ESTIMATORS,
  gigpo,
  grpo,
  hgpo,
  isEstimatorName,
  rloo,
} from '../../../src/kernel/index.ts';
import { columnsOf } from './reference.ts';

const b = columnsOf([
  { group: 0, trajectory: 0, observation: 0, ret: 4, score: 1 },
  { group: 0, trajectory: 1, observation: 0, ret: 1, score: 3 },
  { group: 0, trajectory: 1, observation: 0, ret: 2, score: 3 },
]);
const input = { steps: b.steps, stepReturn: () => b.stepReturn, score: () => b.score };
const refuse = () => {
  throw new Error('not asked for');
};

describe('estimators', () => {
  test('the map leads to the functions', () => {
    assert.deepEqual(
      ESTIMATORS.hgpo(input, { baseGroup: true }),
      hgpo(b.steps, b.stepReturn, { baseGroup: true }, b.score),
    );
    assert.deepEqual(ESTIMATORS.gigpo(input, {}), gigpo(b.steps, b.stepReturn, b.score));
    assert.deepEqual(ESTIMATORS.grpo(input, {}), grpo(b.steps.group, b.score));
    const p = { statistics: 'trajectories' } as const;
    assert.deepEqual(ESTIMATORS.rloo(input, p), rloo(b.steps.group, b.score, p, b.steps.trajectory));
  });

  test('a column that an estimator does not need is not asked for', () => {
    ESTIMATORS.hgpo({ ...input, score: refuse }, {});
    ESTIMATORS.grpo({ ...input, stepReturn: refuse }, {});
    ESTIMATORS.rloo({ ...input, stepReturn: refuse }, {});
    assert.throws(() => ESTIMATORS.gigpo({ ...input, score: refuse }, {}), /not asked for/);
  });

  test('names are known and others are not', () => {
    assert.deepEqual(ESTIMATOR_NAMES, ['hgpo', 'gigpo', 'grpo', 'rloo']);
    assert.ok(ESTIMATOR_NAMES.every(isEstimatorName));
    assert.ok(!isEstimatorName('gae') && !isEstimatorName('toString'));
  });
});
