import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bandsOf, combinationName } from '../../src/models/bands.ts';

test('a combination is named by its values', () => {
  assert.equal(combinationName({ '/replay/batches': 12, '/name': 'a' }), 'replay.batches=12 name=a');
  assert.equal(combinationName({}), 'all children');
});

test('bands lie on common steps; a step without a value is a gap, a mean without an interval is a line', () => {
  const counts = { children: 3, curves: 2 };
  const point = (from: number, to: number, mean: number, interval: { low: number; high: number } | null) => ({
    from,
    to,
    mean,
    interval,
    n: 2,
  });
  const { columns, series } = bandsOf([
    { values: { '/a': 1 }, ...counts, points: [point(0, 1, 5, { low: 4, high: 7 })] },
    { values: { '/a': 2 }, ...counts, points: [point(0, 1, 2, null), point(2, 3, 3, null)] },
  ]);
  assert.deepEqual(columns, [
    [0.5, 2.5],
    ...[
      [5, null],
      [7, null],
      [4, null],
    ],
    ...[
      [2, 3],
      [2, 3],
      [2, 3],
    ],
  ]);
  assert.deepEqual(
    series.map(({ name }) => name),
    ['a=1 · 2 of 3 children', 'a=2 · 2 of 3 children'],
  );
});
