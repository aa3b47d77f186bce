import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { estimate } from '../../../src/identify/estimate.ts';
import { knownForm } from '../../../src/identify/fingerprints.ts';
import { identify } from '../../../src/identify/identify.ts';
import { gigpo, gigpoStepTerm, grpo } from '../../../src/kernel.ts';
import { goldenBatch } from '../../support/golden-batches.ts';
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

  const gated = { singleton: 'zero', guard: 'zero', guardAbove: 1e-6, statesOver: 'batch' } as const;
  for (const [id, gamma, values] of [
    ['verl-agent/gigpo', 0.95, [11.867, 10.2045, -9.2955, -7.633]],
    ['verl-agent/gigpo-std', 0.95, [2.3845, 1.7516, -1.5775, -1.5156]],
    ['roll/gigpo', 0.95, [11.867, 10.2045, -9.2955, -7.633]],
    ['roll/gigpo-std', 0.95, [2.3845, 1.7516, -1.5775, -1.5156]],
    ['roll/gigpo-types', 0.95, [10.5445, 10.5445, -0.8704, -0.8704]],
    ['drmas/gigpo-std', 0.95, [2.206, 1.5731, -1.5731, -1.5112]],
    ['trinity/gigpo', 1, [11.6667, 10, -10, -8.3333]],
    ['trinity/gigpo-std', 1, [2.157, 1.5731, -1.5731, -1.5115]],
  ] as const) {
    test(`${id} gives the worked values of four trajectories`, () => {
      const { reportedStepReward: _none, ...worked } = goldenBatch('graphgpo-worked');
      const score = worked.tokenLevelRewardSum!.map((x) => (x > 5 ? 10 : 0));
      const batch = { ...worked, tokenLevelRewardSum: score, actionValid: new Uint8Array(11).fill(1) };
      const { estimator, params } = knownForm(id);
      const { advantage } = estimate(batch, { name: estimator, params, gamma, invalidActionPenalty: 0 });
      [0, 3, 6, 9].forEach((row, at) => {
        close(advantage[row]!, values[at]!, 6e-5);
      });
    });
  }

  test('a deviation that is not above the guard gives 0, in both terms', () => {
    const rows = [0, 1].map((t) => ({
      group: 0,
      trajectory: t,
      observation: 0,
      ret: t * 1e-7,
      score: t * 1e-7,
    }));
    const b = columnsOf(rows);
    const mode = 'mean_std_norm' as const;
    assert.deepEqual([...gigpo(b.steps, b.stepReturn, b.score, { ...gated, mode })], [-0, 0]);
    assert.ok(gigpo(b.steps, b.stepReturn, b.score, { ...gated, mode, guard: 'none' })[1]! > 0.05);
  });

  test('over the batch, equal states of two groups are one cluster', () => {
    const rows = [0, 1].map((g) => ({ group: g, trajectory: g, observation: 0, ret: g, score: 0 }));
    const b = columnsOf(rows);
    assert.deepEqual([...gigpoStepTerm(b.steps, b.stepReturn, { statesOver: 'batch' })], [-0.5, 0.5]);
    assert.deepEqual([...gigpoStepTerm(b.steps, b.stepReturn)], [0, 0]);
  });

  for (const name of [
    'drmas-gigpo-mean_std_norm-trajectories',
    'drmas-grpo-mean_norm-trajectories',
    'roll-raw-steps',
    'roll-mean_std',
  ])
    test(`identify names the trainer of ${name}`, () => {
      const { fits } = identify([goldenBatch(name)]);
      const forms = fits.flatMap(({ forms }) => forms.map(({ trainer }) => trainer));
      assert.deepEqual([...new Set(forms)], [name.split('-')[0]]);
    });
});
