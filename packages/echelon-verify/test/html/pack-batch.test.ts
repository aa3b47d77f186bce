import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowColumns } from '../../src/explain/row-columns.ts';
import type { Batch } from '../../src/format/batch.ts';
import { packBatch, unpackBatch } from '../../src/html/pack-batch.ts';
import { allGoldenBatches, goldenBatch } from '../support/golden-batches.ts';

const repacked = (batch: Batch, texts: boolean) => unpackBatch(packBatch(batch, { texts }));

test('a packed batch has every column, value and label of the batch that was packed', () => {
  for (const batch of allGoldenBatches()) {
    const { observationLabel, dictionary, ...columns } = repacked(batch, true);
    const { observationLabel: labelOf, dictionary: known, ...expected } = batch;
    assert.deepEqual(columns, expected);
    assert.deepEqual(dictionary?.texts, known?.texts);
    for (let id = 0; id < (known?.count ?? 0); id++) assert.equal(observationLabel(id), labelOf(id));
  }
});

test('a batch that is packed without texts has the same outcomes', () => {
  const batch = goldenBatch('alfworld-scale');
  const query = { first: 0, count: batch.rows };
  const [was, is] = [batch, repacked(batch, false)].map((one) => rowColumns(one, query));
  assert.deepEqual(
    { ...is, observations: null, actions: null, action: null },
    { ...was, observations: null, actions: null, action: null },
  );
  assert.ok(is!.observations!.every((label) => /^\d+$/.test(label)));
});

test('a packed batch keeps values that a smaller type would change: not a number, minus zero, double precision', () => {
  const batch = goldenBatch('alfworld-scale');
  const reward = Float64Array.from(batch.reward!);
  reward.set([0.1, -0, Number.NaN, 1e300, Number.POSITIVE_INFINITY]);
  const scoreError = new Float64Array(batch.rows).fill(2 ** -60);
  const unpacked = repacked({ ...batch, reward, scoreError }, true);
  assert.deepEqual(unpacked.reward, reward);
  assert.deepEqual(unpacked.scoreError, scoreError);
});
