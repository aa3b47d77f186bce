import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GAE } from '../../../src/kernel/estimators/gae.ts';
import { near, run } from '../../support/run-estimator.ts';

const response = { offset: [0, 2, 3], mask: [1, 1, 1], reward: [0, 1, 0], value: [0.5, 0.5, 1] };
const raw = { recentre: false, normalizeByStd: false } as const;

test('gae is δ plus the discounted δ after it: r + γV′ − V', () => {
  near(run(GAE, response, { ...raw, discount: 0.5, lambda: 0.5 }), [-0.125, 0.5, -1]);
  near(run(GAE, response, raw), [0.5, 0.5, -1]);
});

test('gae is whitened over the mask with the sample deviation, as in verl', () => {
  // 0.5, 0.5, −1: mean 0, sample variance 0.75.
  near(run(GAE, response, { epsilon: 0.25 }), [0.5, 0.5, -1]);
  const population = run(GAE, response, { epsilon: 0, deviation: 'population' });
  near(population, [Math.SQRT1_2, Math.SQRT1_2, -Math.SQRT2]);
  const masked = { ...response, mask: [0, 1, 1] };
  near(run(GAE, masked, { epsilon: 0 }), [0, Math.SQRT1_2, -Math.SQRT1_2]);
});

test('gae refuses a batch without tokens', () => {
  assert.throws(() => run(GAE, { score: [1] }), /needs the tokens of each row/);
});
