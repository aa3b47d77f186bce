import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPO } from '../../../src/kernel/estimators/opo.ts';
import { near, run } from '../../support/run-estimator.ts';

test('opo subtracts the mean weighted by response length', () => {
  near(run(OPO, { score: [1, 0, 4], tokens: [2, 5, 3] }), [1 - 1.4, -1.4, 4 - 1.4]);
  near(run(OPO, { score: [1, 0, 0, 0], tokens: [7, 7, 7, 7] }), [0.75, -0.25, -0.25, -0.25]);
});

test('opo passes the score of a group of one row through', () => {
  assert.deepEqual(run(OPO, { score: [0.7], tokens: [3] }), [0.7]);
  assert.deepEqual(run(OPO, { score: [0.7], tokens: [3] }, { singleton: 'zero' }), [0]);
});
