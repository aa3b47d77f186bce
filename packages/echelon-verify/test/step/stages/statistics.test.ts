import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StepBatch } from '../../../src/format/step-batch.ts';
import { verifyStep } from '../../../src/step/verify-step.ts';
import { type Rollouts, rollouts, simulated } from '../simulate-step.ts';

const codesOf = (step: StepBatch): string[] => verifyStep(step).findings.map(({ code }) => code);

test('a stated constant may hold the ranks: no scale beside it is neutral, but all micro-batches have one', () => {
  const scaled = (scales: readonly number[]) => {
    const denominator = 40;
    const step = simulated({
      faults: { divisor: () => denominator, scale: 1 },
      settings: {
        aggregation: { mode: 'constant', scope: 'global', counts: 'mask', rowCount: 'all', denominator },
      },
    });
    const microBatches = step.step.microBatches.map((one, at) => ({
      ...one,
      gradientScale: scales[at] ?? 1,
    }));
    return { ...step, step: { ...step.step, microBatches } };
  };
  assert.deepEqual(codesOf(scaled([])), []);
  assert.deepEqual(codesOf(scaled([1, 2])), ['gradient-scaled']);
});

/** A step of many tokens whose engine gives tool tokens, which have no part in the loss, another log-prob. */
function withToolTokens(): { from: Rollouts; rollout: Float32Array } {
  const from = rollouts(7, 60);
  const rollout = from.old.map((value, token) =>
    from.kept[token] === 1 ? value + 1e-4 * (token % 2 ? 1 : -1) : -20,
  );
  return { from, rollout };
}

test('statistics between engine and trainer leave tool tokens out', () => {
  const { from, rollout } = withToolTokens();
  const tokens = { mask: from.mask.map(() => 1), rolloutLogProb: rollout };
  const step = simulated({
    from: { ...from, mask: tokens.mask },
    faults: { trained: ({ kept }, token) => kept[token] === 1 },
    tokens,
  });
  const seen = { ...step, tokens: { ...step.tokens, kept: from.kept } };
  assert.deepEqual(codesOf(seen), []);
  assert.ok(codesOf(step).includes('log-probs-apart'));
});

test('statistics after a rejection by the ratio take the tokens of the mask', () => {
  const { from, rollout } = withToolTokens();
  const rejected = simulated({
    from,
    faults: { trained: ({ kept }, token) => kept[token] === 1 },
    settings: {
      rolloutCorrection: {
        level: 'token',
        statistic: 'ratio',
        action: 'mask',
        high: 2,
        appliesTo: 'policy',
        keptWeight: 'statistic',
      },
    },
    tokens: { kept: from.kept, rolloutLogProb: rollout },
  });
  assert.ok(codesOf(rejected).includes('log-probs-apart'));
});

test('tokens outside of the loss do not hide that every ratio of a later pass is 1', () => {
  const from = rollouts(7, 60);
  const old = from.logProb.map((value, token) => (from.mask[token] === 1 ? value : value - 1));
  const step = simulated({ from: { ...from, old } });
  const microBatches = step.step.microBatches.map((one) => ({ ...one, pass: 1 }));
  assert.deepEqual(codesOf({ ...step, step: { ...step.step, microBatches } }), ['ratio-always-one']);
});

test('old log-probs that are the engine’s compare the engine with the current policy, whichever column holds them', () => {
  const from = rollouts(7, 60);
  const logProb = from.logProb.map((value) => value - 3);
  const settings = { policyLoss: { name: 'prime-rl', params: {} } };
  const step = simulated({ from: { ...from, logProb }, settings, tokens: { rolloutLogProb: from.old } });
  const copied = { ...step, tokens: { ...step.tokens, rolloutLogProb: from.old.slice() } };
  assert.notEqual(codesOf(step).length, 0);
  assert.deepEqual(codesOf(copied), codesOf(step));
});
