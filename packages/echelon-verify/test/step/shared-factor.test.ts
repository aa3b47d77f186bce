import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roundToBfloat16 } from '../../src/arithmetic/arithmetic.ts';
import type { StepBatch } from '../../src/format/step-batch.ts';
import { verifyStep } from '../../src/step/verify-step.ts';
import { GOLDEN_TRAINERS, goldenSteps } from './golden-steps.ts';
import { halfPrecisionStep } from './power.ts';

const sharedOf = (step: StepBatch) =>
  verifyStep(step).findings.filter(({ code }) => code === 'shared-factor');

test('a denominator that is off by 3 % passes at every token of a bfloat16 step, and their sum shows it', () => {
  const right = verifyStep(halfPrecisionStep(60, 1));
  assert.deepEqual([right.ok, right.findings], [true, []]);
  for (const factor of [0.97, 1.03]) {
    const report = verifyStep(halfPrecisionStep(60, factor));
    assert.equal(report.stages.find(({ stage }) => stage === 'gradient')!.wrong, 0);
    assert.equal(report.consistent, false);
    const [found, ...others] = report.findings.filter(({ code }) => code === 'shared-factor');
    assert.match(found?.message ?? '', /^gradient coefficient.* add up to (0\.9[67]|1\.0[23])\d* times/);
    assert.deepEqual(others, []);
  }
});

test('the denominator of one rank is found by the sum of that rank', () => {
  const step = halfPrecisionStep(120, 1);
  const { offset, lossGradient } = step.tokens;
  const own = lossGradient!.map((value, token) => {
    const row = offset.findIndex((start) => start > token) - 1;
    return step.step.microBatches[step.microBatch![row]!]!.rank === 1
      ? roundToBfloat16(1.035 * value)
      : value;
  });
  const [found] = sharedOf({ ...step, tokens: { ...step.tokens, lossGradient: own } });
  assert.match(found?.message ?? '', /the numbers of (micro-batch [345]|rank 1) add up to 1\.03/);
});

test('no sum of a bfloat16 step that a trainer computed is off', () => {
  let steps = 0;
  for (const trainer of GOLDEN_TRAINERS)
    for (const step of goldenSteps(trainer)) {
      if (step.step.precision !== 'bfloat16') continue;
      steps++;
      assert.deepEqual(sharedOf(step), [], step.name);
    }
  assert.ok(steps > 150, `${steps}`);
});

test('a factor of the rollout weights is found by their sum', () => {
  const step = halfPrecisionStep(120, 1);
  const { offset, oldLogProb } = step.tokens;
  const rolloutLogProb = oldLogProb!.map((value, at) => roundToBfloat16(value + ((at * 37) % 101) / 256));
  const weights = (factor: number) => ({
    ...step,
    step: {
      ...step.step,
      rolloutCorrection: {
        level: 'token',
        statistic: 'ratio',
        action: 'truncate',
        high: 2,
        appliesTo: 'policy',
        keptWeight: 'statistic',
      },
    } as const,
    tokens: {
      offset,
      mask: step.tokens.mask!,
      oldLogProb: oldLogProb!,
      logProb: step.tokens.logProb!,
      rolloutLogProb,
      rolloutWeight: oldLogProb!.map((value, at) =>
        roundToBfloat16(factor * Math.exp(value - rolloutLogProb[at]!)),
      ),
    },
  });
  assert.deepEqual(sharedOf(weights(1)), []);
  assert.match(sharedOf(weights(0.98))[0]?.message ?? '', /^weight of the rollout correction/);
});
