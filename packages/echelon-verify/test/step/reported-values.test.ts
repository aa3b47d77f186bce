import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StepBatch } from '../../src/format/step-batch.ts';
import { verifyStep } from '../../src/step/verify-step.ts';
import { readOne } from './sample-step.ts';
import { rollouts, simulated } from './simulate-step.ts';

/** Mean of oldLogProb − logProb over the flagged tokens. */
function meanKl({ oldLogProb, logProb }: StepBatch['tokens'], flags: Uint8Array): number {
  const all = flags.reduce((total, flag, t) => total + flag * (oldLogProb![t]! - logProb![t]!), 0);
  return all / flags.reduce((total, flag) => total + flag, 0);
}

/** A step with rejected tokens that reports a mean. */
function withRejection(reported: (tokens: StepBatch['tokens']) => StepBatch['step']['reported']): StepBatch {
  const from = rollouts();
  const step = simulated({
    from,
    faults: { trained: ({ kept }, token) => kept[token] === 1 },
    tokens: { kept: from.kept },
  });
  return { ...step, step: { ...step.step, reported: reported(step.tokens) } };
}

test('a mean after rejection is the sum over the kept tokens by the count of the kept tokens', () => {
  const report = verifyStep(
    withRejection((tokens) => ({
      approxKl: { value: meanKl(tokens, tokens.kept!), reduction: 'tokens' },
    })),
  );
  assert.deepEqual([report.values[0]!.outcome, report.ok], ['exact', true]);
});

test('a mean that is stated over the mask holds the rejected tokens as well', () => {
  const outcome = (flags: 'mask' | 'kept') =>
    verifyStep(
      withRejection((tokens) => ({
        approxKl: { value: meanKl(tokens, tokens[flags]!), reduction: 'tokens', counts: 'mask' },
      })),
    ).values[0]!.outcome;
  assert.deepEqual([outcome('mask'), outcome('kept')], ['exact', 'wrong']);
});

test('a mean over the mask needs the mask if only the kept tokens are recorded', () => {
  const step = withRejection((tokens) => ({
    approxKl: { value: meanKl(tokens, tokens.kept!), reduction: 'tokens', counts: 'mask' },
  }));
  const { mask: _mask, ...tokens } = step.tokens;
  const [value] = verifyStep({ ...step, tokens }).values;
  assert.deepEqual([value!.outcome, value!.lacks], ['unverifiable', ['tokens.mask']]);
});

/** One row of five tokens with old log-probs of −2 and the fractions that the trainer reports. */
function fractions(
  policyLoss: Record<string, unknown>,
  { logRatio, advantage, reported }: { logRatio: number[]; advantage: number[]; reported: number[] },
) {
  const [clipFraction, clipFractionLower] = reported;
  const batch = readOne({
    name: 'update 1',
    step: { policyLoss, microBatches: [{ rank: 0 }], reported: { clipFraction, clipFractionLower } },
    tokens: {
      offset: [0, logRatio.length],
      oldLogProb: logRatio.map(() => -2),
      logProb: logRatio.map((own) => -2 + own),
      reportedAdvantage: advantage,
    },
  });
  return verifyStep(batch).values.map(({ outcome }) => outcome);
}

test('the fractions of dppo-tv count dropped tokens, and capped ones of those that are not dropped', () => {
  // Probabilities move from 0.135 to 0.30, 0.55, 0.135, 0.02 and 0.33.
  const tokens = { logRatio: [0.8, 1.4, 0, -2, 0.9], advantage: [1, 1, 1, 1, -1] };
  const loss = { name: 'dppo-tv', clipLow: 0.2, clipHigh: 0.2, cap: 2 };
  assert.deepEqual(fractions(loss, { ...tokens, reported: [0.2, 0.4] }), ['exact', 'exact']);
  assert.deepEqual(fractions(loss, { ...tokens, reported: [0.2, 0] }), ['exact', 'wrong']);
});

test('the fractions of gmpo count clipped tokens by the sign of their advantage', () => {
  const tokens = { logRatio: [0.5, -0.5, 0.1, -0.5, 0.5], advantage: [1, 1, 1, -1, 0] };
  const loss = { name: 'gmpo', clipLow: 0.2, clipHigh: 0.2 };
  assert.deepEqual(fractions(loss, { ...tokens, reported: [0.4, 0.2] }), ['exact', 'exact']);
  assert.deepEqual(fractions(loss, { ...tokens, reported: [0.6, 0] }), ['wrong', 'wrong']);
});

test('a mean over the tokens of all ranks of a micro-batch, and then over the micro-batches, is not the mean of all', () => {
  const from = rollouts();
  const { step, ...rest } = simulated({ from });
  const { tokens, microBatch, rows } = rest;
  const { offset, oldLogProb, logProb, mask } = tokens;
  const ofIndex = new Map<number, [number, number]>();
  for (let row = 0; row < rows; row++) {
    const { index } = step.microBatches[microBatch![row]!]!;
    const [sum, count] = ofIndex.get(index) ?? [0, 0];
    let [total, number] = [sum, count];
    for (let t = offset[row]!; t < offset[row + 1]!; t++) {
      total += mask![t]! * (oldLogProb![t]! - logProb![t]!);
      number += mask![t]!;
    }
    ofIndex.set(index, [total, number]);
  }
  const value =
    [...ofIndex.values()].reduce((sum, [total, number]) => sum + total / number, 0) / ofIndex.size;
  const outcome = (reduction: 'tokens-then-mean' | 'mean-of-micro-batches') =>
    verifyStep({ ...rest, step: { ...step, reported: { approxKl: { value, reduction } } } }).values[0]!
      .outcome;
  assert.deepEqual([outcome('tokens-then-mean'), outcome('mean-of-micro-batches')], ['exact', 'wrong']);
});
