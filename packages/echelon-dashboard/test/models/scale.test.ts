import assert from 'node:assert/strict';
import { test } from 'node:test';
import { intervalOn, intervalScale, rangeOf } from '../../src/models/scale.ts';

test('all values have their place on one scale, in order', () => {
  const scale = intervalScale({ interval: { low: 1, high: 2 }, truth: 1.5, reported: 4 })!;
  assert.ok(0 < scale.low && scale.low < scale.truth && scale.truth < scale.high);
  assert.ok(scale.high < scale.reported! && scale.reported! < 1);
  assert.equal(scale.widthsOff, 2);
});

test('a value inside is no width off, and an interval of one point is drawn', () => {
  assert.equal(intervalScale({ interval: { low: 1, high: 2 }, truth: 1.5, reported: 1.2 })!.widthsOff, 0);
  const point = intervalScale({ interval: { low: 0, high: 0 }, truth: 0, reported: 0 })!;
  assert.equal(point.low, 0.5);
  assert.equal(intervalScale({ interval: null, truth: 1, reported: 1 }), undefined);
});

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
