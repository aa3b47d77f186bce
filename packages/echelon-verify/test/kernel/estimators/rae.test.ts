import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RAE } from '../../../src/kernel/estimators/rae.ts';
import { near, run } from '../../support/run-estimator.ts';

test('rae subtracts the average before the row moves it, one average for each role', () => {
  near(run(RAE, { score: [1, 1, 0, 1], group: [0, 1, 0, 0] }, { decay: 0.5 }), [1, 1, -0.5, 0.75]);
});

test('rae starts its averages where the batch says', () => {
  near(run(RAE, { score: [1, 1] }, { decay: 0.9, start: 0.5 }), [0.5, 0.45]);
});

test('rae must have its decay stated', () => {
  assert.ok(RAE.parameters.decay.mustBeStated);
});
