import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GRPO_PASSK } from '../../../src/kernel/estimators/grpo-passk.ts';
import { near, run } from '../../support/run-estimator.ts';

test('grpo_passk gives only the best row an advantage: its distance to the second best', () => {
  near(run(GRPO_PASSK, { score: [1, 0, 0, 0] }, { epsilon: 0 }), [2, 0, 0, 0]);
  near(run(GRPO_PASSK, { score: [1, 5, 3] }, { normalizeByStd: false }), [0, 2, 0]);
});

test('grpo_passk gives 0 everywhere if two rows are best, or if the group has one row', () => {
  assert.deepEqual(run(GRPO_PASSK, { score: [1, 1, 0] }), [0, 0, 0]);
  assert.deepEqual(run(GRPO_PASSK, { score: [0.7] }), [0]);
});
