import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GPG } from '../../../src/kernel/estimators/gpg.ts';
import { near, run } from '../../support/run-estimator.ts';

test('gpg scales centred scores by rows over rows with a score', () => {
  near(run(GPG, { score: [1, 0, 0, 0] }), [3, -1, -1, -1]);
  near(run(GPG, { score: [1, 0, 2, 2], group: [0, 0, 1, 1] }), [2 / 3, -2 / 3, 0, 0]);
});

test('gpg gives zeros for a batch of zeros, and scales the score of a group of one row', () => {
  assert.deepEqual(run(GPG, { score: [0, 0] }), [0, 0]);
  near(run(GPG, { score: [0.7, 0, 0], group: [0, 1, 1] }), [2.1, 0, 0]);
});
