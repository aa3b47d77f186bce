import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_RL } from '../../../src/kernel/estimators/max-rl.ts';
import { near, run } from '../../support/run-estimator.ts';

test('max_rl divides the distance from the mean by the mean', () => {
  near(run(MAX_RL, { score: [1, 0, 0, 0] }), [3, -1, -1, -1]);
  near(run(MAX_RL, { score: [1, 0] }, { epsilon: 0.5 }), [0.5, -0.5]);
});

test('max_rl gives 0 for a mean of 0 or less, unless no guard is stated', () => {
  near(run(MAX_RL, { score: [-1, -3] }), [0, -0].map(Math.abs));
  near(run(MAX_RL, { score: [-1, -3] }, { guard: 'none' }), [-0.5, 0.5]);
});

test('max_rl gives a group of one row 0, or its score by raw', () => {
  assert.deepEqual(run(MAX_RL, { score: [0.7] }), [0]);
  assert.deepEqual(run(MAX_RL, { score: [0.7] }, { singleton: 'raw' }), [0.7]);
});
