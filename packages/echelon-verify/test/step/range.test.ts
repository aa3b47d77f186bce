/** Numbers that leave the range of float32 on the way to the gradient. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyStep } from '../../src/step/verify-step.ts';
import { readOne } from './sample-step.ts';

/** One token with a log-ratio, and what the trainer reports of it; null is NaN. */
function reportOf(
  logRatio: number,
  {
    advantage = 1,
    reported,
    policyLoss = { name: 'ppo-clip' },
  }: {
    advantage?: number;
    reported: Readonly<Record<string, number | null>>;
    policyLoss?: object;
  },
) {
  const columns = Object.entries(reported).map(([key, value]) => [key, [value]]);
  const batch = readOne({
    name: 'update 1',
    step: { policyLoss, aggregation: { mode: 'token-sum' } },
    tokens: {
      offset: [0, 1],
      logProb: [-1],
      oldLogProb: [-1 - logRatio],
      reportedAdvantage: [advantage],
      ...Object.fromEntries(columns),
    },
  });
  const report = verifyStep({
    ...batch,
    tokens: {
      ...batch.tokens,
      // A file cannot hold an infinity.
      ...(reported.reportedRatio === Number.POSITIVE_INFINITY && {
        reportedRatio: Float32Array.of(Number.POSITIVE_INFINITY),
      }),
    },
  });
  const outcomeOf = (name: string) => {
    const { exact, rounding, wrong } = report.stages.find(({ stage }) => stage === name)!;
    return exact ? 'exact' : rounding ? 'rounding' : wrong ? 'wrong' : 'unverifiable';
  };
  return { outcomeOf, codes: report.findings.map(({ code }) => code), ok: report.ok };
}

test('a ratio beyond float32 is infinite, and a finite one is not called right', () => {
  const infinite = reportOf(90, { reported: { reportedRatio: Number.POSITIVE_INFINITY } });
  assert.equal(infinite.outcomeOf('ratio'), 'exact');
  const finite = reportOf(90, { reported: { reportedRatio: 1e38 } });
  assert.equal(finite.outcomeOf('ratio'), 'unverifiable');
});

test('an infinite ratio is a finding that names the token, unless the log-ratio is clamped', () => {
  const found = reportOf(90, { reported: { lossGradient: null } });
  assert.deepEqual([found.codes, found.ok], [['ratio-overflow'], false]);
  const policyLoss = { name: 'ppo-clip', logRatioClamp: 20 };
  assert.deepEqual(reportOf(90, { reported: { lossGradient: 0 }, policyLoss }).codes, []);
});

test('NaN after an infinite ratio is unverifiable in loss and gradient, also where the clip is finite', () => {
  for (const advantage of [1, -1]) {
    const report = reportOf(90, { advantage, reported: { reportedLoss: null, lossGradient: null } });
    assert.deepEqual(
      [report.outcomeOf('loss'), report.outcomeOf('gradient')],
      ['unverifiable', 'unverifiable'],
      `advantage ${advantage}`,
    );
  }
});

test('NaN without an overflow stays wrong', () => {
  const report = reportOf(0.1, { reported: { reportedLoss: null, lossGradient: null } });
  assert.deepEqual([report.outcomeOf('loss'), report.outcomeOf('gradient')], ['wrong', 'wrong']);
});

test('a ratio below the normal numbers may be flushed to 0', () => {
  const flushed = { reportedRatio: 0, reportedLoss: 0, lossGradient: 0 };
  for (const reported of [flushed, { ...flushed, reportedRatio: Math.exp(-95) }]) {
    const report = reportOf(-95, { reported });
    for (const stage of ['ratio', 'loss', 'gradient'])
      assert.notEqual(report.outcomeOf(stage), 'wrong', stage);
  }
  assert.equal(reportOf(-80, { reported: { reportedRatio: 0 } }).outcomeOf('ratio'), 'wrong');
});
