import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeStep, encodeStep } from '../../src/step/format/step-wire.ts';
import { verifyStep } from '../../src/step/verify-step.ts';
import { GOLDEN_TRAINERS, goldenSteps } from './golden-steps.ts';

for (const trainer of GOLDEN_TRAINERS) {
  test(`no stage of any step that ${trainer} computed is wrong or unverifiable`, () => {
    const steps = goldenSteps(trainer);
    assert.ok(steps.length >= 160);
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
    assert.ok(changes > 80);
  });

  test(`a step that ${trainer} computed is the same after the wire`, () => {
    for (const step of goldenSteps(trainer).slice(0, 20))
      assert.deepEqual(decodeStep(encodeStep(step)), step);
  });
}
