import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FLOAT32 } from '../../src/arithmetic/arithmetic.ts';
import { blurOf, emptyColumn, keep, put, radiusOf } from '../../src/arithmetic/interval.ts';

const COLUMN = { value: Float64Array.of(1, 2), low: Float64Array.of(0, 2), high: Float64Array.of(1, 5) };

test('a written interval holds its value', () => {
  const column = emptyColumn(2);
  put(column, 0, 3, 4, 5);
  keep(column, COLUMN, 1);
  assert.deepEqual(column, {
    value: Float64Array.of(3, 2),
    low: Float64Array.of(3, 2),
    high: Float64Array.of(5, 5),
  });
});

test('the radius of a row is its larger distance to an end, and 0 if the ends are the values', () => {
  assert.deepEqual(radiusOf(COLUMN), Float64Array.of(1, 3));
  const { value } = COLUMN;
  assert.deepEqual(radiusOf({ value, low: value, high: value }), Float64Array.of(0, 0));
});

test('roundings blur an interval by as many units of its larger end, and leave an exact 0', () => {
  assert.equal(blurOf(0, 0, 8, FLOAT32), 0);
  const blur = blurOf(-1, 4, 2, FLOAT32);
  assert.ok(blur >= 8 * FLOAT32.unit && blur < 8.1 * FLOAT32.unit);
});
