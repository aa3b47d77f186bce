import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hull } from '../../src/bounds/admissible.ts';
import { createRowModel, type RowModel } from '../../src/bounds/row-model.ts';
import type { Batch } from '../../src/format/batch.ts';
import { type HandRow, handBatch } from '../support/hand-batch.ts';
import { type BatchChoices, randomBatch, randomFrom } from '../support/random-batch.ts';
import type { Stated } from '../support/stated.ts';

function modelOf(batch: Batch): RowModel {
  const outcome = createRowModel(batch);
  assert.ok('model' in outcome, JSON.stringify(outcome));
  return outcome.model;
}

/** X:0 S:9; X:0 S:3; Y:0 S:0, scores 10, 10, 0, 0, 0, 0. */
const ROWS: HandRow[] = [
  { trajectory: 't1', step: 0, state: 'X', return: 0, score: 10 },
  { trajectory: 't1', step: 1, state: 'S', return: 9, score: 10 },
  { trajectory: 't2', step: 0, state: 'X', return: 0, score: 0 },
  { trajectory: 't2', step: 1, state: 'S', return: 3, score: 0 },
  { trajectory: 't3', step: 0, state: 'Y', return: 0, score: 0 },
  { trajectory: 't3', step: 1, state: 'S', return: 0, score: 0 },
];

describe('the row model', () => {
  test('holds the truth of HGPO, and parts for the levels that have company', () => {
    const model = modelOf(handBatch(ROWS));
    assert.ok(Math.abs(model.truth[1]! - 3.8) < 1e-6 && Math.abs(model.truth[3]! + 2.2) < 1e-6);
    const levels = (row: number): [number, number][] =>
      model.parts(row).parts.map((p) => [p.level, p.weight]);
    assert.deepEqual(levels(1), [
      [0, 2],
      [1, 3],
    ]);
    assert.deepEqual(levels(5), [[0, 2]]);
    assert.deepEqual(levels(4), []);
  });

  test('with the base group, the whole group comes first with weight 1', () => {
    const model = modelOf(handBatch(ROWS, { estimator: { baseGroup: true } }));
    assert.deepEqual(
      model.parts(4).parts.map((p) => [p.level, p.weight]),
      [[-1, 1]],
    );
    assert.ok(Math.abs(model.truth[1]! - 4.2778) < 1e-4);
  });

  test('in float64 the truth lies in the row’s interval, for every estimator', () => {
    for (const name of ['hgpo', 'gigpo', 'grpo', 'rloo'] as const) {
      for (let seed = 0; seed < 60; seed++) {
        const model = modelOf(randomBatch(randomFrom(seed), { name, precision: 'float64' }));
        for (let row = 0; row < model.truth.length; row++) {
          const { low, high } = hull(model.parts(row));
          const truth = model.truth[row]!;
          assert.ok(truth >= low && truth <= high, `${name}, seed ${seed}, row ${row}`);
        }
      }
    }
  });

  test('in float64 the truth lies in the row’s interval, for every parameter that has bounds', () => {
    const choices: BatchChoices[] = [
      { name: 'hgpo', weightOffset: 1 },
      { name: 'hgpo', weightEpsilon: 0.1 },
      { name: 'hgpo', singleton: 'zero' },
      { name: 'hgpo', baseGroup: true, baseSingleton: 'zero' },
      { name: 'hgpo', baseGroup: true, baseDeviation: 'population' },
      { name: 'hgpo', baseGroup: true, statistics: 'trajectories' },
      { name: 'gigpo', singleton: 'zero', deviation: 'population' },
      { name: 'gigpo', stepAdvantageWeight: -2 },
      { name: 'grpo', singleton: 'zero', deviation: 'population' },
      { name: 'rloo', singleton: 'zero' },
    ];
    for (const choice of choices) {
      for (let seed = 0; seed < 60; seed++) {
        const model = modelOf(randomBatch(randomFrom(seed), { ...choice, precision: 'float64' }));
        for (let row = 0; row < model.truth.length; row++) {
          const { low, high } = hull(model.parts(row));
          const truth = model.truth[row]!;
          assert.ok(truth >= low && truth <= high, `${JSON.stringify(choice)}, seed ${seed}, row ${row}`);
        }
      }
    }
  });

  test('says which part of the formula has no error bounds', () => {
    const unbounded = (estimator: Stated): unknown => createRowModel(handBatch(ROWS, { estimator }));
    const mode = 'mean_std_norm';
    for (const statistics of ['rows', 'trajectories'] as const)
      assert.ok('model' in (unbounded({ name: 'grpo', epsilonPlace: 'floor', statistics }) as object));
    assert.deepEqual(unbounded({ mode, epsilonPlace: 'variance-added' }), {
      unbounded: 'epsilon variance-added',
    });
    assert.deepEqual(unbounded({ zero: 'keep' }), {
      unbounded: 'levels of advantage 0 that keep their weight',
    });
    assert.ok('model' in (unbounded({ mode: 'mean_norm', epsilonPlace: 'floor' }) as object));
  });

  test('says what the batch lacks', () => {
    const missing = (rows: HandRow[], estimator: Stated): unknown =>
      createRowModel(handBatch(rows, { estimator }));
    const bare = [{ trajectory: 'a', step: 0 }];
    const returns = 'reported.stepReward (or reward and actionValid)';
    assert.deepEqual(missing(bare, {}), { missing: ['observation', returns] });
    assert.deepEqual(missing(bare, { name: 'grpo' }), { missing: ['tokenLevelRewardSum'] });
    assert.deepEqual(missing(bare, { baseGroup: true }), {
      missing: ['observation', returns, 'tokenLevelRewardSum'],
    });
    assert.ok('model' in (missing([{ trajectory: 'a', score: 1 }], { name: 'rloo' }) as object));
  });

  test('statistics over trajectories need one score for all rows of a trajectory', () => {
    const estimator = { name: 'grpo', statistics: 'trajectories' } as const;
    const model = modelOf(handBatch(ROWS, { estimator }));
    const [part] = model.parts(5).parts;
    assert.equal(part!.bounds.size[part!.cluster], 3);
    assert.ok(Math.abs(model.truth[0]! - (10 - 10 / 3) / Math.sqrt(100 / 3)) < 1e-6);
    const rows = ROWS.map((row, i) => (i === 1 ? { ...row, score: 9.5 } : row));
    assert.deepEqual(createRowModel(handBatch(rows, { estimator })), {
      missing: ['one tokenLevelRewardSum for all rows of a trajectory'],
    });
  });

  test('an answer without tokens has no base advantage', () => {
    const batch = handBatch(ROWS, { estimator: { baseGroup: true } });
    const silent = { ...batch, responseLength: new Int32Array(batch.rows) };
    assert.equal(modelOf(silent).parts(1).parts[0]!.zero, 'surely');
  });
});
