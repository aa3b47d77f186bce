import { test } from 'node:test';
import { REMAX } from '../../../src/kernel/estimators/remax.ts';
import { near, run } from '../../support/run-estimator.ts';

const responses = {
  offset: [0, 3, 4],
  mask: [1, 0, 1, 1],
  reward: [-0.5, -2, 4, 0],
  rewardBaseline: [1, 0.25],
};

test('remax is the return of each trained token less the reward of the greedy response', () => {
  near(run(REMAX, responses), [2.5, 0, 3, -0.25]);
});

test('remax counts rewards outside the mask only if stated', () => {
  near(run(REMAX, responses, { maskedTokens: 'include' }), [0.5, 0, 3, -0.25]);
});
