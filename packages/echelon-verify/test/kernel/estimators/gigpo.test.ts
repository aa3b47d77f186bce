import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { gigpo, gigpoStepTerm, grpo } from '../../../src/kernel/index.ts';
import { batches, columnsOf, normal, slowClusters } from '../reference.ts';

const close = (a: number, b: number, within: number) =>
  assert.ok(Math.abs(a - b) <= within, `${a}, expected ${b}`);
const modes = fc.constantFrom('mean_norm' as const, 'mean_std_norm' as const);

describe('gigpo', () => {
  test('gives the worked values: returns 9, 9.5, 10 against 0, states A B C and A B D', () => {
    const rows = [0, 1].flatMap((t) =>
      [0, 1, 2].map((s) => ({
        group: 0,
        trajectory: t,
        observation: s < 2 ? s : 2 + t,
        ret: t === 0 ? 9 + s / 2 : 0,
        score: t === 0 ? 10 : 0,
      })),
    );
    const b = columnsOf(rows);
    const a = gigpo(b.steps, b.stepReturn, b.score, { mode: 'mean_std_norm' });
    [1.62, 1.62, 0.9129, -1.62, -1.62, -0.9129].forEach((value, row) => {
      close(a[row]!, value, 1e-4);
    });
  });

  test('the step term is the definition, by sample deviation, and 0 for a state met once', () => {
    fc.assert(
      fc.property(batches(), modes, ({ steps, stepReturn }, mode) => {
        const term = gigpoStepTerm(steps, stepReturn, { mode });
        slowClusters(steps, 0).forEach(([members], row) => {
          const values = members!.map((at) => stepReturn[at]!);
          const expected =
            values.length < 2 ? 0 : normal(stepReturn[row]!, values, { mode, epsilon: 1e-6 }, 1);
          close(term[row]!, expected, 1e-6 * Math.max(1, Math.abs(expected)));
        });
      }),
      { numRuns: 300 },
    );
  });

  test('is the episode term plus the weighted step term', () => {
    fc.assert(
      fc.property(batches(), modes, fc.constantFrom(0, 0.5, 1, 2), (b, mode, stepAdvantageWeight) => {
        const whole = gigpo(b.steps, b.stepReturn, b.score, { mode, stepAdvantageWeight });
        const episode = grpo(b.steps.group, b.score, { normalizeByStd: mode === 'mean_std_norm' });
        const step = gigpoStepTerm(b.steps, b.stepReturn, { mode });
        whole.forEach((a, row) => {
          assert.equal(a, episode[row]! + stepAdvantageWeight * step[row]!);
        });
      }),
    );
  });

  test('the empty batch has no advantages, and unequal columns are refused', () => {
    const empty = columnsOf([]);
    assert.equal(gigpo(empty.steps, empty.stepReturn, empty.score).length, 0);
    const one = columnsOf([{ group: 0, trajectory: 0, observation: 0, ret: 1 }]);
    assert.throws(() => gigpo(one.steps, new Float64Array(2), one.score), RangeError);
    assert.throws(() => gigpo(one.steps, one.stepReturn, new Float64Array(2)), RangeError);
  });
});
