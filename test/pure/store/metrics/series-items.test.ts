import assert from 'node:assert/strict';
import { test } from 'node:test';
import { condense, pointOf } from '../../../../src/store/metrics/series-items.ts';

test('condense merges the points of one range of steps, and none if there is room', () => {
  const items = (
    [
      [0, 1],
      [1, Number.NaN],
      [2, Infinity],
      [9, -3],
    ] as const
  ).map(([step, value]) => ({ attempt: 1, item: pointOf(step, value) }));
  assert.equal(condense(items, 4).length, 4);
  assert.deepEqual(condense(items, 2), [
    {
      attempt: 1,
      from: 0,
      to: 2,
      count: 3,
      first: 1,
      last: 'Infinity',
      min: 1,
      max: 1,
      mean: 1,
      nan: 1,
      infinite: 1,
    },
    {
      attempt: 1,
      from: 9,
      to: 9,
      count: 1,
      first: -3,
      last: -3,
      min: -3,
      max: -3,
      mean: -3,
      nan: 0,
      infinite: 0,
    },
  ]);
  const same = items.map(({ attempt, item }) => ({ attempt, item: { ...item, from: 5, to: 5 } }));
  assert.equal(condense(same, 3).length, 1);
  assert.deepEqual(condense([], 3), []);
});
