import assert from 'node:assert/strict';
import { test } from 'node:test';
import { intervalOn, rangeOf } from '../../src/models/sweep-scale.ts';

const one = { mean: 0.5, interval: { low: 0, high: 1 } };

test('the range holds all means and intervals, and a missing value is no zero', () => {
  assert.deepEqual(
    rangeOf([one, { mean: 2, interval: null }, { mean: null, interval: null }, undefined]),
    [0, 2],
  );
  assert.equal(rangeOf([undefined]), undefined);
});

test('a mean lies inside of its interval, and one alone in the middle', () => {
  assert.deepEqual(intervalOn(one, [0, 2]), { from: 0, at: 0.25, to: 0.5 });
  assert.deepEqual(intervalOn({ mean: 1, interval: null }, [1, 1]), { from: 0.5, at: 0.5, to: 0.5 });
});
