import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { evaluate } from '../../../src/kernel/estimators/evaluate.ts';
import {
  ESTIMATORS,
  estimatorNames,
  GIGPO_RECIPE,
  GRPO_RECIPE,
  gigpo,
  grpo,
  HGPO_RECIPE,
  hgpo,
  isEstimatorName,
  RLOO_RECIPE,
  rloo,
} from '../../../src/kernel.ts';
import { columnsOf } from '../reference.ts';

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
      evaluate(ESTIMATORS.hgpo, input, { ...HGPO_RECIPE, baseGroup: true }),
      hgpo(b.steps, b.stepReturn, { baseGroup: true }, b.score),
    );
    assert.deepEqual(evaluate(ESTIMATORS.gigpo, input, GIGPO_RECIPE), gigpo(b.steps, b.stepReturn, b.score));
    assert.deepEqual(evaluate(ESTIMATORS.grpo, input, GRPO_RECIPE), grpo(b.steps.group, b.score));
    const p = { statistics: 'trajectories' } as const;
    assert.deepEqual(
      evaluate(ESTIMATORS.rloo, input, { ...RLOO_RECIPE, ...p }),
      rloo(b.steps.group, b.score, p, b.steps.trajectory),
    );
  });

  test('a column that an estimator does not need is not asked for', () => {
    evaluate(ESTIMATORS.hgpo, { ...input, score: refuse }, HGPO_RECIPE);
    evaluate(ESTIMATORS.grpo, { ...input, stepReturn: refuse }, GRPO_RECIPE);
    evaluate(ESTIMATORS.rloo, { ...input, stepReturn: refuse }, RLOO_RECIPE);
    assert.throws(
      () => evaluate(ESTIMATORS.gigpo, { ...input, score: refuse }, GIGPO_RECIPE),
      /not asked for/,
    );
  });

  test('names are known and others are not', () => {
    assert.deepEqual(estimatorNames().slice(0, 5), ['hgpo', 'gigpo', 'graphgpo', 'g2po', 'grpo']);
    assert.ok(estimatorNames().every(isEstimatorName));
    assert.ok(!isEstimatorName('ppo') && !isEstimatorName('toString'));
  });
});
