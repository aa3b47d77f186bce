import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { estimate } from '../../../src/identify/estimate.ts';
import { estimatorOf } from '../../../src/kernel/estimators/registry.ts';
import { MAX_OTHERS } from '../../../src/kernel/sets/row-sets.ts';
import { applyMissing, runStages, type StageInput } from '../../../src/kernel/stages/chain.ts';
import { goldenEstimates } from '../../support/golden-estimators.ts';

const NAN = Number.NaN;

function input(score: readonly number[], group = score.map(() => 0)): StageInput {
  return {
    group: Int32Array.from(group),
    score: () => Float64Array.from(score),
    tokens: () => assert.fail('no lengths here'),
    rewards: () => [],
  };
}

const group = { over: 'group', weight: 'row' } as const;
const centre = { do: 'subtract-mean', set: group } as const;

describe('chains of stages', () => {
  test('give what the published functions of trainers give, to the digits of float32', () => {
    let compared = 0;
    for (const { batch } of goldenEstimates()) {
      // Groups of equal or nearly equal values are decided by float32 rounding: the bounds are for them.
      if (!/binary|spread/.test(batch.name) || /large/.test(batch.name)) continue;
      const { advantage } = estimate(batch);
      batch.reportedAdvantage!.forEach((reported, row) => {
        const off = Math.abs(reported - advantage[row]!);
        const same = Object.is(reported, advantage[row]) || off <= 2e-5 * Math.max(1, Math.abs(reported));
        const residue = Math.abs(advantage[row]!) < 1e-9 && Math.abs(reported) < 0.2;
        assert.ok(same || residue, `${batch.name}, row ${row}: ${advantage[row]}, reported ${reported}`);
        compared++;
      });
    }
    assert.ok(compared > 2000, `${compared} rows`);
  });

  test('leave a NaN in its group, count it as 0, or leave it out', () => {
    const plan = (missing: 'propagate' | 'zero' | 'exclude') =>
      runStages({ stages: [centre], singleton: 'zero', missing }, input([1, NAN, 3, 5, 5], [0, 0, 0, 1, 1]));
    assert.deepEqual(Array.from(plan('propagate')), [NAN, NAN, NAN, 0, 0]);
    assert.deepEqual(Array.from(plan('zero')), [1 - 4 / 3, -4 / 3, 3 - 4 / 3, 0, 0]);
    assert.deepEqual(Array.from(plan('exclude')), [-1, 0, 1, 0, 0]);
    const value = Float64Array.of(NAN, 2);
    const { counted } = applyMissing('exclude', { value, low: value, high: value });
    assert.deepEqual(Array.from(counted), [0, 1]);
  });

  test('take the deviation of the others from the others alone, however far the row is from them', () => {
    const divide = {
      do: 'divide-by-deviation',
      set: group,
      of: 'scores',
      others: true,
      deviation: 'sample',
      epsilon: 0,
      epsilonPlace: 'added',
      guard: { above: 0, otherwise: 'keep' },
    } as const;
    const stages = [{ do: 'subtract-others' }, divide] as const;
    const run = (...score: number[]) =>
      Array.from(runStages({ stages, singleton: 'zero', missing: 'propagate' }, input(score)));
    const withUnscored = runStages(
      { stages, singleton: 'zero', missing: 'exclude' },
      input([NAN, 1, 2, 4], [0, 1, 1, 1]),
    );
    assert.deepEqual(Array.from(withUnscored), [0, ...run(1, 2, 4)]);
    const [, , far] = run(1e-3, 2e-3, 1e9);
    assert.ok(Math.abs(far! / ((1e9 - 1.5e-3) / Math.sqrt(5e-7)) - 1) < 1e-12);
    // The others of the last row are equal: their deviation is exactly 0, and the guard keeps the difference.
    assert.equal(run(0.35, 0.35, 0.35, 1)[3], (4 / 3) * (1 - 1.0499999999999998 / 4 - 0.25));
    assert.throws(() => run(...new Array<number>(MAX_OTHERS + 1).fill(0)), RangeError);
  });

  test('clip last, and the sum of rewards ignores those that were not given', () => {
    const clipped = runStages(
      { stages: [centre, { do: 'clip', limit: 1 }], singleton: 'zero', missing: 'propagate' },
      input([10, 0, 4.5]),
    );
    assert.deepEqual(Array.from(clipped), [1, -1, 4.5 - 14.5 / 3]);
  });

  test('are named by every estimator that has other than terms', () => {
    for (const { form, batch } of goldenEstimates()) {
      const plan = estimatorOf(batch.estimator.name).rowPlan(batch.estimator.params);
      assert.ok('stages' in plan || 'terms' in plan, form);
    }
  });
});
