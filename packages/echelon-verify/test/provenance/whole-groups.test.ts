import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimate } from '../../src/identify/estimate.ts';
import { wholeGroups } from '../../src/provenance/whole-groups.ts';
import { goldenBatch } from '../support/golden-batches.ts';

const batch = goldenBatch('alfworld-scale');
const sizes = batch.groupNames.map((_, g) => batch.group.filter((id) => id === g).length);

test('takes whole groups, whose rows have the advantages that they have in the batch', () => {
  const row = batch.group.indexOf(3);
  const part = wholeGroups(batch, [row, batch.group.indexOf(5)], sizes[3]! + sizes[5]!);
  assert.ok(part !== undefined);
  assert.equal(part.batch.rows, sizes[3]! + sizes[5]!);
  assert.deepEqual(
    [...part.rows].map((of) => batch.group[of]),
    [...part.batch.group],
  );
  const whole = estimate(batch).advantage;
  assert.deepEqual(
    [...estimate(part.batch).advantage],
    [...part.rows].map((of) => whole[of]),
  );
});

test('skips groups that are too large, and gives nothing if none fits', () => {
  const [large, small] = [0, 1].map((end) => {
    const order = sizes.map((_, g) => g).sort((a, b) => sizes[b]! - sizes[a]!);
    return order.at(-end)!;
  }) as [number, number];
  assert.ok(sizes[small]! < sizes[large]!);
  const wanted = [batch.group.indexOf(large), batch.group.indexOf(small)];
  assert.equal(wholeGroups(batch, wanted, sizes[small]!)?.batch.group[0], small);
  assert.equal(wholeGroups(batch, wanted, 1), undefined);
  assert.equal(wholeGroups(batch, [], 1000), undefined);
});
