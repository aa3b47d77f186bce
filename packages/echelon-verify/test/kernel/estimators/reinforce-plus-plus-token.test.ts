import { test } from 'node:test';
import { REINFORCE_PLUS_PLUS_TOKEN } from '../../../src/kernel/estimators/reinforce-plus-plus-token.ts';
import { near, run } from '../../support/run-estimator.ts';

const responses = { offset: [0, 3, 4], mask: [1, 0, 1, 1], reward: [0, -2, 4, 0] };

test('reinforce_plus_plus_token whitens the discounted returns of the tokens of the mask', () => {
  // Returns 2, 4 and 0: mean 2, sample deviation 2.
  near(run(REINFORCE_PLUS_PLUS_TOKEN, responses, { discount: 0.5, epsilon: 0 }), [0, 0, 1, -1]);
});

test('reinforce_plus_plus_token discounts at a token outside the mask, or starts again there, if stated', () => {
  const raw = { discount: 0.5, recentre: false, normalizeByStd: false } as const;
  near(run(REINFORCE_PLUS_PLUS_TOKEN, responses, { ...raw, maskedTokens: 'zero' }), [1, 0, 4, 0]);
  near(run(REINFORCE_PLUS_PLUS_TOKEN, responses, { ...raw, maskedTokens: 'reset' }), [0, 0, 4, 0]);
});
