/** The off-policy mask: rows with a negative advantage beyond the threshold have no policy loss, and keep their KL term. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { identifyStep } from '../../src/identify/steps/identify-step.ts';
import { verifyStep } from '../../src/step/verify-step.ts';
import { exampleBatch, readOne } from './sample-step.ts';

/** Three rows of two tokens: one that moved and has a negative advantage, one that did not move, one with a positive advantage. */
function batchOf(dropped: boolean, mask: object | undefined, more: Record<string, unknown> = {}) {
  const batch = exampleBatch();
  const own = dropped ? 0 : 0.5 * Math.exp(-1);
  return {
    ...batch,
    step: {
      policyLoss: { name: 'ppo-clip', clipLow: 0.99, clipHigh: 0.99 },
      aggregation: { mode: 'token-sum' },
      ...(mask && { offPolicyMask: mask }),
      microBatches: [{}],
      ...more,
    },
    group: ['a', 'a', 'a'],
    trajectory: ['a', 'b', 'c'],
    microBatch: [0, 0, 0],
    tokens: {
      offset: [0, 2, 4, 6],
      logProb: [-3, -3, -1, -1, -3, -3],
      oldLogProb: [-2, -2, -1, -1, -2, -2],
      rolloutLogProb: [-3, -3, -1, -1, -3, -3],
      referenceLogProb: [-3, -3, -1, -1, -3, -3],
      reportedAdvantage: [-0.5, -0.5, -0.5, -0.5, 0.5, 0.5],
      lossGradient: [own, own, 0.5, 0.5, -0.5 * Math.exp(-1), -0.5 * Math.exp(-1)],
    },
  };
}

const MASK = { threshold: 0.9 };
const gradientOf = (batch: unknown) =>
  verifyStep(readOne(batch)).stages.find(({ stage }) => stage === 'gradient')!;

test('a dropped row must have no gradient, and the rows that the mask keeps must have theirs', () => {
  assert.equal(gradientOf(batchOf(true, MASK)).wrong, 0);
  assert.equal(gradientOf(batchOf(false, MASK)).wrong, 2);
  assert.equal(gradientOf(batchOf(true, undefined)).wrong, 2);
});

test('the mask compares with the log-probs of the stated policy, and lacks them without the column', () => {
  // The rollout engine's log-probs are those of the current policy: no row has moved.
  const ofRollout = { ...MASK, sampledBy: 'rollout' };
  assert.equal(gradientOf(batchOf(false, ofRollout)).wrong, 0);
  const batch = batchOf(false, ofRollout);
  const { rolloutLogProb: _without, ...tokens } = batch.tokens;
  assert.deepEqual(gradientOf({ ...batch, tokens }).lacks, ['tokens.rolloutLogProb']);
});

test('the KL term of a dropped row stays', () => {
  const kl = { kl: { estimator: 'k2', coefficient: 2 } };
  const batch = batchOf(true, MASK, kl);
  batch.tokens.referenceLogProb = [-2.5, -2.5, -1, -1, -3, -3];
  // d/dx of 2·(x − ref)²/2 = 2·(x − ref).
  batch.tokens.lossGradient.splice(0, 2, -1, -1);
  assert.equal(gradientOf(batch).wrong, 0);
  batch.tokens.lossGradient.splice(0, 2, 0, 0);
  assert.equal(gradientOf(batch).wrong, 2);
});

test('within the rounding of the mean either side is admitted', () => {
  for (const dropped of [true, false])
    assert.equal(gradientOf(batchOf(dropped, { threshold: 1 - 1e-8 })).wrong, 0);
});

test('a mask without effect and a mask of the other policy are named', () => {
  const textsOf = (mask: object) =>
    identifyStep(readOne(batchOf(false, mask))).explanations.map((texts) => texts.join());
  assert.ok(textsOf(MASK).includes('the off-policy mask has no effect'));
  assert.ok(textsOf(MASK).includes('the off-policy mask uses the rollout log-probs; you said old'));
});
