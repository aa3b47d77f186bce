import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRowModel } from '../../src/bounds/row-model.ts';
import { diagnose } from '../../src/explain/diagnosis.ts';
import type { Batch } from '../../src/format/batch.ts';
import type { Diagnosis } from '../../src/report/report.ts';
import { goldenBatch } from '../support/golden-batches.ts';
import { handBatch } from '../support/hand-batch.ts';

function diagnosisOf(batch: Batch): Diagnosis {
  const outcome = createRowModel(batch);
  assert.ok('model' in outcome);
  return diagnose(batch, outcome.model);
}

describe('diagnosis', () => {
  test('clusters, sizes and weights by level', () => {
    const { levels, zero } = diagnosisOf(
      handBatch([
        { trajectory: 'a', step: 0, state: 'X', return: 0 },
        { trajectory: 'a', step: 1, state: 'S', return: 9 },
        { trajectory: 'b', step: 0, state: 'X', return: 0 },
        { trajectory: 'b', step: 1, state: 'S', return: 3 },
        { trajectory: 'c', step: 0, state: 'Y', return: 0 },
        { trajectory: 'c', step: 1, state: 'S', return: 0 },
      ]),
    );
    assert.deepEqual(
      levels.map(({ level, clusters, singletons, equalClusters, rows, largestSize }) => [
        level,
        clusters,
        singletons,
        equalClusters,
        rows,
        largestSize,
      ]),
      [
        [0, 3, 1, 1, 6, 3],
        [1, 2, 1, 0, 3, 2],
      ],
    );
    assert.ok(Math.abs(levels[0]!.weightShare - (0.4 + 0.4 + 1) / 3) < 1e-12);
    assert.deepEqual(zero, { rows: 3, singleton: 1, equal: 2, atMean: 0 });
  });

  test('shares add up, and an ALFWorld-size batch shows context inconsistency', () => {
    const { levels, signFlipShare, roundingOnly } = diagnosisOf(goldenBatch('alfworld-scale'));
    assert.ok(Math.abs(levels.reduce((sum, level) => sum + level.weightShare, 0) - 1) < 1e-9);
    assert.ok(signFlipShare > 0.01 && signFlipShare < 0.1);
    assert.equal(roundingOnly, 0);
  });

  test('signal that exists only through rounding is counted', () => {
    const batch = goldenBatch('late-n7');
    const { zero, roundingOnly } = diagnosisOf(batch);
    const expected = batch.reportedAdvantage!.filter((a) => a !== 0).length;
    assert.ok(roundingOnly > 50 && roundingOnly <= expected);
    assert.equal(zero.rows, zero.singleton + zero.equal + zero.atMean);
  });
});
