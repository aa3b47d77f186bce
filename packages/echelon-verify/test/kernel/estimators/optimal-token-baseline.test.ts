import { test } from 'node:test';
import { OPTIMAL_TOKEN_BASELINE } from '../../../src/kernel/estimators/optimal-token-baseline.ts';
import { near, run } from '../../support/run-estimator.ts';

const half = (count: number) => new Array<number>(count).fill(Math.log(0.5));
/** Responses of three and two tokens; each token has π = 0.5 and Σπ² = 0.4, so that each weighs 0.4. */
const pair = {
  offset: [0, 3, 5],
  mask: [1, 1, 1, 1, 1],
  reward: [0, 0, 1, 0, 0],
  logProb: half(5),
  squaredProbabilities: new Array<number>(5).fill(0.4),
};

test('optimal_token_baseline gives the worked example of verl, with a baseline in the tail only if stated', () => {
  near(run(OPTIMAL_TOKEN_BASELINE, pair, { epsilon: 0 }), [0.5, 0.5, 1, -0.5, -0.5]);
  near(run(OPTIMAL_TOKEN_BASELINE, pair, { epsilon: 0, zeroTail: false }), [0.5, 0.5, 0, -0.5, -0.5]);
});

test('optimal_token_baseline sums the weights up to a token, times the squared weights of the rollout if stated', () => {
  const uneven = { ...pair, squaredProbabilities: [0.4, 0.8, 0.4, 0.4, 0.4], rolloutWeight: [2, 1, 1, 1, 1] };
  // Sums 0.4, 1.2 and 0.4, 0.8; with weights 1.6, 2.4 and 0.4, 0.8.
  near(run(OPTIMAL_TOKEN_BASELINE, uneven, { epsilon: 0 }), [0.5, 0.4, 1, -0.5, -0.6]);
  near(
    run(OPTIMAL_TOKEN_BASELINE, uneven, { epsilon: 0, rolloutWeights: true }),
    [0.2, 0.25, 1, -0.8, -0.75],
  );
});

test('optimal_token_baseline leaves a group of one response its returns', () => {
  near(run(OPTIMAL_TOKEN_BASELINE, { ...pair, group: [0, 1] }), [1, 1, 1, 0, 0]);
});
