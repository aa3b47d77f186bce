import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StepBatch } from '../../src/format/step-batch.ts';
import { decodeStep, encodeStep } from '../../src/format/step-wire.ts';
import { withoutColumn, withoutSetting } from '../../src/identify/steps/change.ts';
import { verifyStep } from '../../src/step/verify-step.ts';
import { GOLDEN_TRAINERS, goldenSteps } from './golden-steps.ts';

for (const trainer of GOLDEN_TRAINERS) {
  test(`no stage of any step that ${trainer} computed is wrong or unverifiable`, () => {
    const steps = goldenSteps(trainer);
    assert.ok(steps.length >= 48);
    for (const step of steps) {
      const report = verifyStep(step);
      for (const stage of report.stages)
        assert.deepEqual([stage.wrong, stage.unverifiable], [0, 0], `${step.name}: ${JSON.stringify(stage)}`);
      assert.equal(report.ok, true, step.name);
    }
  });

  test(`a hundredth more on one gradient of each float32 step that ${trainer} computed is wrong`, () => {
    let changes = 0;
    for (const step of goldenSteps(trainer)) {
      if (step.step.precision === 'bfloat16') continue;
      const { lossGradient } = step.tokens;
      const at = lossGradient!.findIndex((value) => Math.abs(value) > 1e-4);
      if (at < 0) continue;
      changes++;
      const changed = Float32Array.from(lossGradient!);
      changed[at] = changed[at]! * 1.01;
      const report = verifyStep({ ...step, tokens: { ...step.tokens, lossGradient: changed } });
      assert.equal(report.wrongTokens.length, 1, step.name);
    }
    assert.ok(changes >= 40);
  });

  test(`a step that ${trainer} computed is the same after the wire`, () => {
    for (const step of goldenSteps(trainer).slice(0, 20))
      assert.deepEqual(decodeStep(encodeStep(step)), step);
  });
}

/** Columns and settings without which a step says less, and nothing else. */
const REMOVED: readonly [string, (step: StepBatch) => StepBatch][] = [
  ...(['logProb', 'rolloutLogProb', 'referenceLogProb', 'rolloutWeight', 'lossGradient'] as const).map(
    (key): [string, (step: StepBatch) => StepBatch] => [`tokens.${key}`, (step) => withoutColumn(step, key)],
  ),
  ...(['policyLoss', 'aggregation'] as const).map((key): [string, (step: StepBatch) => StepBatch] => [
    `step.${key}`,
    (step) => withoutSetting(step, key),
  ]),
  ['microBatch', ({ microBatch: _, ...step }) => step],
  ['reported.advantage', ({ reportedAdvantage: _, ...step }) => step],
];

for (const trainer of GOLDEN_TRAINERS) {
  for (const [key, remove] of REMOVED) {
    test(`a step that ${trainer} computed is not wrong without ${key}`, () => {
      for (const step of goldenSteps(trainer)) {
        const { stages } = verifyStep(remove(step));
        for (const stage of stages) assert.equal(stage.wrong, 0, `${step.name}: ${JSON.stringify(stage)}`);
      }
    });
  }
}
