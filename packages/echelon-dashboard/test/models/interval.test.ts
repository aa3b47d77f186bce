import assert from 'node:assert/strict';
import { test } from 'node:test';
import { intervalScale } from '../../src/models/interval.ts';

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
