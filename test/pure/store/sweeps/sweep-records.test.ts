import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newSweepId } from '../../../../src/core/ids.ts';
import {
  readEntry,
  toFigures,
  toSweep,
  toSweepRecord,
  writeEntry,
} from '../../../../src/store/sweeps/sweep-records.ts';

test('no hash is no sweep, and a bare one reads as a new one', () => {
  assert.equal(toSweep({}), undefined);
  assert.equal(toSweepRecord({}), undefined);
  const sweep = toSweepRecord({ id: 'swp-1', state: 'running', method: 'grid', seed: '' })!;
  assert.deepEqual([sweep.seed, sweep.endedAt, sweep.counts.failed, sweep.axes], [null, null, 0, []]);
});

test('a child is read as it was written', () => {
  const sweep = newSweepId();
  const text = writeEntry([0.125, 3], 1);
  const child = readEntry(sweep, { index: 2, run: 0, text, fingerprints: ['a', 'b'] });
  assert.deepEqual([child.entry, child.fingerprint, child.index], [[0.125, 3], 'b', 2]);
});

test('figures of nothing are none', () => {
  assert.equal(toFigures([null], [], []), undefined);
  const figures = toFigures(['queued', null, null, '2'], ['"NaN"', '0.5', null], ['a', 'b', 'c'])!;
  assert.deepEqual([figures.gpus, figures.startedAt, figures.metrics], [2, null, { b: 0.5 }]);
});
