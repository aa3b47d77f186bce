import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StageName } from '../../src/step/model/step-report.ts';
import { verifyStep } from '../../src/step/verify-step.ts';
import { exampleBatch, readOne } from './sample-step.ts';

/** The report of the example, changed. */
function reportOf(change: (batch: ReturnType<typeof exampleBatch>) => void) {
  const batch = exampleBatch();
  change(batch);
  return verifyStep(readOne(batch));
}
const stageOf = (report: ReturnType<typeof verifyStep>, name: StageName) =>
  report.stages.find(({ stage }) => stage === name)!;

test('the example step is exact in every stage', () => {
  const report = reportOf(() => {});
  assert.equal(report.ok, true);
  for (const { stage, rounding, wrong, unverifiable } of report.stages)
    assert.deepEqual([rounding, wrong, unverifiable], [0, 0, 0], stage);
});

test('a gradient on a clipped token is wrong and names the token', () => {
  const report = reportOf(({ tokens }) => {
    tokens.lossGradient = [-0.2, -0.27, -0.2, 0.2, 0.2];
  });
  assert.equal(report.consistent, false);
  assert.deepEqual(report.wrongTokens, [{ row: 0, token: 1, stage: 'gradient' }]);
});

test('a gradient that is off by a hundred-thousandth is wrong', () => {
  const report = reportOf(({ tokens }) => {
    tokens.lossGradient = [-0.2 * (1 + 1e-5), 0, -0.2, 0.2, 0.2];
  });
  assert.equal(stageOf(report, 'gradient').wrong, 1);
});

test('a step without gradients is consistent, not ok, and names the column', () => {
  const report = reportOf(({ tokens }) => {
    delete tokens.lossGradient;
  });
  assert.deepEqual([report.ok, report.consistent], [false, true]);
  assert.deepEqual(stageOf(report, 'gradient').lacks, ['tokens.lossGradient']);
});

test('a loss that is not known makes the gradient unverifiable, not wrong', () => {
  const report = reportOf(({ step }) => {
    step.policyLoss = { name: 'clip-cov' };
  });
  assert.equal(stageOf(report, 'gradient').wrong, 0);
  assert.match(stageOf(report, 'gradient').lacks.join(), /clip-cov/);
});

test('a parameter that is not known makes the gradient unverifiable, not wrong', () => {
  const report = reportOf(({ step }) => {
    step.policyLoss = { name: 'ppo-clip', temperature: 2 };
  });
  assert.equal(stageOf(report, 'gradient').unverifiable, 5);
});

test('a denominator of one micro-batch in place of all is wrong exactly', () => {
  const report = reportOf(({ step }) => {
    const [first, second] = step.microBatches as object[];
    step.microBatches = [
      { ...first, reportedDenominator: 3 },
      { ...second, reportedDenominator: 2 },
    ];
  });
  assert.equal(stageOf(report, 'denominator').wrong, 2);
});

test('a denominator that misses one token is wrong', () => {
  const report = reportOf(({ step }) => {
    const [first, second] = step.microBatches as object[];
    step.microBatches = [
      { ...first, reportedDenominator: 5 },
      { ...second, reportedDenominator: 4 },
    ];
  });
  assert.equal(stageOf(report, 'denominator').wrong, 1);
});

test('a gradient outside the mask is wrong in the stage of the mask', () => {
  const report = reportOf(({ tokens, step }) => {
    tokens.mask = [1, 1, 1, 1, 0];
    tokens.lossGradient = [-0.25, 0, -0.25, 0.25, 0.25];
    delete step.microBatches;
    step.microBatches = [
      { rank: 0, gradientScale: 2 },
      { rank: 1, gradientScale: 2 },
    ];
  });
  assert.deepEqual(report.wrongTokens, [{ row: 1, token: 1, stage: 'mask' }]);
  assert.equal(stageOf(report, 'gradient').exact, 4);
});

test('a clip fraction by tokens is wrong as a mean of micro-batches', () => {
  const report = reportOf(({ step }) => {
    step.reported = { clipFraction: { value: 0.2, reduction: 'mean-of-micro-batches' } };
  });
  assert.equal(report.values[0]!.outcome, 'wrong');
  assert.equal(report.values[0]!.expected, 1 / 6);
});

test('a reported value without a reduction is unverifiable and says so', () => {
  const report = reportOf(({ step }) => {
    step.reported = { clipFraction: 0.2 };
  });
  assert.equal(report.values[0]!.outcome, 'unverifiable');
  assert.deepEqual(report.values[0]!.lacks, ['step.reported.clipFraction.reduction']);
});

test('a token at the clip edge may have either gradient or half of it', () => {
  for (const share of [0, 0.5, 1]) {
    const report = reportOf(({ tokens }) => {
      tokens.logProb = [-0.5, -1.5 + Math.log(1.28), -0.1, -2, -0.7];
      tokens.lossGradient = [-0.2, -0.2 * 1.28 * share, -0.2, 0.2, 0.2];
    });
    assert.equal(stageOf(report, 'gradient').wrong, 0, `${share}`);
  }
});

test('trained ids that were not sampled, repeated tokens and impossible versions are wrong exactly', () => {
  const report = reportOf((batch) => {
    batch.trajectory = ['a', 'a'];
    (batch.step.microBatches as { pass: number }[])[1]!.pass = 0;
    Object.assign(batch.tokens, {
      id: [1, 2, 3, 4, 5],
      sampledId: [1, 2, 3, 4, 6],
      position: [0, 1, 2, 2, 3],
      policyVersion: [39, 39, 40, 41, 41],
    });
  });
  assert.equal(stageOf(report, 'tokens').wrong, 1);
  assert.equal(stageOf(report, 'once').wrong, 1);
  assert.equal(stageOf(report, 'versions').wrong, 2);
});

test('every row with a wrong id is wrong, also beyond the listed tokens', () => {
  const lengths = [150, 2, 2];
  const offset = [0, 150, 152, 154];
  const id = Array.from({ length: 154 }, (_, token) => token);
  const report = verifyStep(
    readOne({
      ...exampleBatch(),
      step: { microBatches: [{ rank: 0, index: 0, pass: 0 }] },
      microBatch: lengths.map(() => 0),
      group: lengths.map(() => 'task 1'),
      trajectory: ['a', 'b', 'c'],
      tokens: { offset, id, sampledId: id.map((one) => (one < 152 ? one + 1 : one)), mask: id.map(() => 1) },
    }),
  );
  assert.equal(stageOf(report, 'tokens').wrong, 152);
  assert.deepEqual([report.wrongTokens.length, report.wrongRows], [100, [0, 1]]);
});
