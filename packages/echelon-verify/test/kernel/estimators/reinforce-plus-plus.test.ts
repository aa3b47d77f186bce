import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REINFORCE_PLUS_PLUS } from '../../../src/kernel/estimators/reinforce-plus-plus.ts';
import { near, run } from '../../support/run-estimator.ts';

const rows = { weight: 'row', epsilon: 0, epsilonPlace: 'added' } as const;

test('reinforce_plus_plus whitens the scores over the response tokens of the batch', () => {
  // Tokens 1, 0, 0, 0: mean 1/4, sample deviation 1/2.
  near(run(REINFORCE_PLUS_PLUS, { score: [1, 0], tokens: [1, 3] }, { epsilon: 0 }), [1.5, -0.5]);
  near(run(REINFORCE_PLUS_PLUS, { score: [1, 0, 0, 0] }, rows), [1.5, -0.5, -0.5, -0.5]);
});

test('reinforce_plus_plus subtracts the mean of the group first, if it is the baseline', () => {
  const columns = { score: [1, 0, 5, 5], group: [0, 0, 1, 1] };
  const by = Math.sqrt(0.5 / 3);
  near(run(REINFORCE_PLUS_PLUS, columns, { ...rows, baseline: 'group' }), [0.5 / by, -0.5 / by, 0, 0]);
});

test('reinforce_plus_plus has a floor of the variance, and can leave the mean or the deviation out', () => {
  const floor = { ...rows, epsilon: 4, epsilonPlace: 'variance-floor', deviation: 'population' } as const;
  near(run(REINFORCE_PLUS_PLUS, { score: [1, 0] }, floor), [0.25, -0.25]);
  near(run(REINFORCE_PLUS_PLUS, { score: [1, 0] }, { ...floor, recentre: false }), [0.5, 0]);
  assert.deepEqual(
    run(REINFORCE_PLUS_PLUS, { score: [1, 0] }, { ...rows, normalizeByStd: false }),
    [0.5, -0.5],
  );
});
