import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { termOfChain } from '../../src/bounds/chain-term.ts';
import { createJudge, isClose, type Judge } from '../../src/bounds/outcomes.ts';
import type { Batch } from '../../src/format/batch.ts';
import { estimatorNames, estimatorOf } from '../../src/kernel/estimators/registry.ts';
import { completeParameters } from '../../src/kernel.ts';
import { bfloat16, float16, halfMachine } from '../support/bfloat16.ts';
import { allGoldenBatches, goldenBatch, inForms } from '../support/golden-batches.ts';
import { randomBatch, randomFrom } from '../support/random-batch.ts';
import { advantagesOn, randomMachine } from '../support/recipe.ts';
import { restated, type Stated } from '../support/stated.ts';

/** Batches that each property is tried on. */
const RUNS = Number(process.env.PROPERTY_RUNS ?? 200);

function judgeOf(batch: Batch): Judge {
  const judge = createJudge(batch);
  assert.ok('model' in judge, 'the batch lacks columns');
  return judge;
}

/** Estimators with the bounds of terms over groups and contexts; chain-bounds.test.ts tries the other chains. */
const OF_TERMS = estimatorNames().filter((name) => {
  const { parameters, rowPlan } = estimatorOf(name);
  const plan = rowPlan(completeParameters(parameters));
  return 'terms' in plan || ('stages' in plan && termOfChain(plan) !== undefined);
});

test('HGPO, GiGPO, GraphGPO, G²PO, GRPO and RLOO have the bounds of terms', () => {
  assert.deepEqual(OF_TERMS, ['hgpo', 'gigpo', 'graphgpo', 'g2po', 'grpo', 'rloo']);
});

describe('row outcomes', () => {
  for (const [name, statistics, forms] of OF_TERMS.flatMap((n) =>
    (['rows', 'trajectories'] as const).flatMap((s) =>
      (['any', 'recipe'] as const).map((f) => [n, s, f] as const),
    ),
  )) {
    test(`no float32 evaluation of ${name} over ${statistics} in ${forms} forms is called wrong, in any order`, () => {
      fc.assert(
        fc.property(fc.integer(), (seed) => {
          const random = randomFrom(seed);
          const batch = randomBatch(random, { name, statistics, forms });
          const reported = advantagesOn(batch, randomMachine(random, Math.fround, forms));
          const judge = judgeOf(batch);
          for (let row = 0; row < batch.rows; row++) {
            assert.notEqual(judge.judge(row, reported[row]!), 'wrong', `row ${row} reports ${reported[row]}`);
          }
        }),
        { numRuns: RUNS },
      );
    });
  }

  for (const [name, choices] of [
    ['gigpo', { mode: 'raw', episodeMode: 'mean_std_norm', guard: 'zero', guardAbove: 1e-6 }],
    ['gigpo', { mode: 'mean_std_norm', guard: 'zero', guardAbove: 1e-6, statesOver: 'batch' }],
    ['gigpo', { mode: 'mean_norm', undivided: 'one-plus-epsilon', statesOver: 'batch' }],
    ['gigpo', { statistics: 'trajectory-mean' }],
    ['grpo', { statistics: 'trajectory-mean' }],
  ] as const)
    for (const forms of ['any', 'recipe'] as const)
      test(`no float32 evaluation of ${name} with ${JSON.stringify(choices)} in ${forms} forms is called wrong`, () => {
        fc.assert(
          fc.property(fc.integer(), (seed) => {
            const random = randomFrom(seed);
            const batch = randomBatch(random, { name, forms, ...choices } as Stated);
            const reported = advantagesOn(batch, randomMachine(random, Math.fround, forms));
            const judge = judgeOf(batch);
            for (let row = 0; row < batch.rows; row++)
              assert.notEqual(
                judge.judge(row, reported[row]!),
                'wrong',
                `row ${row} reports ${reported[row]}`,
              );
          }),
          { numRuns: RUNS },
        );
      });

  for (const name of OF_TERMS) {
    test(`no float64 evaluation of ${name}, rounded for the report, is called wrong`, () => {
      fc.assert(
        fc.property(fc.integer(), (seed) => {
          const random = randomFrom(seed);
          const choices = { name, precision: 'float64', gamma: 0, invalidActionPenalty: 0 } as const;
          const drawn = randomBatch(random, choices);
          const reward = drawn.reportedStepReward!.map((x) => x * 1.1 + 0.3);
          const batch = { ...drawn, reward, reportedStepReward: reward.map(Math.fround) };
          const machine = randomMachine(random, (x) => x);
          const reported = advantagesOn({ ...batch, reportedStepReward: reward }, machine).map(Math.fround);
          const judge = judgeOf(batch);
          for (let row = 0; row < batch.rows; row++) {
            assert.notEqual(judge.judge(row, reported[row]!), 'wrong', `row ${row} reports ${reported[row]}`);
          }
        }),
        { numRuns: RUNS },
      );
    });
  }

  for (const [name, forms, precision, half] of OF_TERMS.flatMap((n) =>
    (['any', 'recipe'] as const).flatMap((f) => [
      [n, f, 'bfloat16', bfloat16] as const,
      [n, f, 'float16', float16] as const,
    ]),
  )) {
    test(`no ${precision} evaluation of ${name} in ${forms} forms is called wrong, in any order, nor float32 ones rounded to it`, () => {
      fc.assert(
        fc.property(fc.integer(), (seed) => {
          const random = randomFrom(seed);
          const isCast = random() < 0.5;
          const drawn = randomBatch(random, {
            name,
            forms,
            precision: isCast ? `${precision}-output` : precision,
          });
          const returned = drawn.reportedStepReward!.map(half);
          const batch = { ...drawn, reward: returned, reportedStepReward: returned };
          const machine = isCast
            ? randomMachine(random, Math.fround, forms)
            : halfMachine(random, half, forms);
          const reported = advantagesOn(batch, machine).map(half);
          const judge = judgeOf(batch);
          for (let row = 0; row < batch.rows; row++) {
            assert.notEqual(judge.judge(row, reported[row]!), 'wrong', `row ${row} reports ${reported[row]}`);
          }
        }),
        // Rewards of some steps of the smallest float16 numbers, whose means are updated value by value; equal gains of a group of two.
        { numRuns: RUNS, examples: [[-449134922], [1564280558]] },
      );
    });
  }

  test('nothing that the official estimators reported is wrong', () => {
    const expected = [
      'late-mean_std_norm',
      'late-n7',
      'gigpo-mean_std_norm-w1.0-2',
      'gigpo-mean_std_norm-w0.5-2',
      'rloo-2',
      'graphgpo-0.1-mean_std_norm',
      'graphgpo-0.1-mean_std_norm-progress',
      'graphgpo-0.2-mean_std_norm',
      'graphgpo-0.2-mean_std_norm-progress',
      'graphgpo-0.8-mean_std_norm-progress',
      'graphgpo-weights',
      'graphgpo-large',
      'g2po-mean_std_norm-float64',
      'g2po-mean_std_norm-float32',
      'g2po-partial',
      'drmas-gigpo-mean_std_norm-trajectories',
      'drmas-grpo-mean_std_norm-trajectories',
    ];
    const rounding: string[] = [];
    for (const batch of allGoldenBatches()) {
      const judge = judgeOf(batch);
      const outcomes = new Set<string>();
      batch.reportedAdvantage!.forEach((value, row) => {
        outcomes.add(judge.judge(row, value));
      });
      assert.ok(!outcomes.has('wrong') && !outcomes.has('unverifiable'), batch.name);
      if (outcomes.has('rounding')) rounding.push(batch.name);
    }
    assert.deepEqual(rounding, expected);
  });

  // The returns of a graph differ by little: their clusters' means are large compared with the deviations.
  const isOfGraph = ({ name }: Batch) => name.startsWith('graphgpo') || name.startsWith('g2po');
  for (const [which, change, least, batches] of [
    ['other', 1e-4, 0.99, allGoldenBatches().filter((batch) => !isOfGraph(batch))],
    ['other', 1e-3, 0.998, allGoldenBatches().filter((batch) => !isOfGraph(batch))],
    ['GraphGPO and G²PO', 1e-4, 0.93, allGoldenBatches().filter(isOfGraph)],
    ['GraphGPO and G²PO', 1e-3, 0.99, allGoldenBatches().filter(isOfGraph)],
  ] as const)
    test(`a relative change of ${change} is found in ${100 * least} % of the rows with a signal of ${which} batches`, () => {
      let [found, tried] = [0, 0];
      for (const batch of batches) {
        const judge = judgeOf(inForms(batch, 'recipe'));
        batch.reportedAdvantage!.forEach((value, row) => {
          const truth = judge.model.truth[row]!;
          if (truth === 0 || !Number.isFinite(truth)) return;
          tried += 1;
          if (judge.judge(row, Math.fround(value * (1 + change))) === 'wrong') found += 1;
        });
      }
      assert.ok(found / tried >= least, `${found} of ${tried}`);
    });

  test('a single row nudged by 1e-3 is found and its neighbours stay right', () => {
    const batch = goldenBatch('alfworld-scale');
    const judge = judgeOf(batch);
    const row = judge.model.truth.findIndex((a) => Math.abs(a) > 0.5);
    const value = batch.reportedAdvantage![row]!;
    assert.equal(judge.judge(row, Math.fround(value * 1.001)), 'wrong');
    assert.equal(judge.judge(row, value), 'exact');
    assert.equal(judge.judge(row + 1, batch.reportedAdvantage![row + 1]!), 'exact');
  });

  test('a value that only rounding can give is rounding, the same value elsewhere is wrong', () => {
    const batch = inForms(goldenBatch('late-n7'), 'recipe');
    const judge = judgeOf(batch);
    const row = batch.reportedAdvantage!.findIndex((a, i) => a !== 0 && judge.model.truth[i] === 0);
    assert.equal(judge.judge(row, batch.reportedAdvantage![row]!), 'rounding');
    assert.equal(judge.judge(row, batch.reportedAdvantage![row]! * 1.01), 'wrong');
    assert.equal(judge.judge(row, 0), 'exact');
  });

  test('NaN where the formula gives NaN is exact, elsewhere wrong', () => {
    const clean = goldenBatch('one-step-episodes');
    const poisoned = { ...clean, reportedStepReward: clean.reportedStepReward!.with(0, Number.NaN) };
    assert.equal(judgeOf(poisoned).judge(0, Number.NaN), 'exact');
    assert.equal(judgeOf(poisoned).judge(1, 0.5), 'wrong');
    assert.equal(judgeOf(clean).judge(0, Number.NaN), 'wrong');
  });

  test('weights that float32 cannot hold make rows unverifiable, not wrong', () => {
    const batch = goldenBatch('walk-K3-mean_std_norm-base0');
    const withAlpha = (lengthWeightAlpha: number): Judge => judgeOf(restated(batch, { lengthWeightAlpha }));
    const row = batch.reportedAdvantage!.findIndex((a) => a !== 0);
    for (const alpha of [60, 100, 1000, -100, -1000]) {
      assert.equal(withAlpha(alpha).judge(row, Number.NaN), 'unverifiable', `alpha ${alpha}`);
      assert.equal(withAlpha(alpha).judge(row, 3), 'unverifiable');
    }
    for (const alpha of [20, 0, -20]) assert.equal(withAlpha(alpha).judge(row, Number.NaN), 'wrong');
    assert.equal(withAlpha(100).judge(row, withAlpha(100).model.truth[row]!), 'exact');
  });

  test('values that may overflow float32 are unverifiable, not wrong', () => {
    const clean = goldenBatch('one-step-episodes');
    const huge = clean.reportedStepReward!.map((x) => (x === 0 ? 0 : 3e38));
    assert.equal(judgeOf({ ...clean, reportedStepReward: huge }).judge(0, 1.2), 'unverifiable');
  });

  test('float64 batches are held to float64 bounds', () => {
    const clean = goldenBatch('late-n7');
    const batch: Batch = { ...clean, estimator: { ...clean.estimator, precision: 'float64' } };
    const judge = judgeOf(batch);
    const row = clean.reportedAdvantage!.findIndex((a, i) => a !== 0 && judge.model.truth[i] === 0);
    assert.equal(judge.judge(row, clean.reportedAdvantage![row]!), 'wrong');
    assert.equal(judge.judge(row, 0), 'exact');
  });

  test('the display constant is 1e-4 of the true value, of 0.01 at least', () => {
    assert.ok(isClose(1.00009, 1) && !isClose(1.00011, 1));
    assert.ok(isClose(0.9e-6, 0) && !isClose(1.1e-6, 0));
  });
});
