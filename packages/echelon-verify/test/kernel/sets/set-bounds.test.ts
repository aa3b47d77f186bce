import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FLOAT32, MAX_SUM_DEPTH } from '../../../src/arithmetic/arithmetic.ts';
import { tokenSets, valueSets } from '../../../src/kernel/sets/set-bounds.ts';

const f = Math.fround;
const float32 = fc.float({ min: -1000, max: 1000, noNaN: true }).map((x) => (Math.abs(x) < 1e-30 ? 0 : x));
const part = fc.double({ min: -1, max: 1, noNaN: true });

test('values that are off by their radius stay within the bounds of mean and deviation', () => {
  const size = fc.constantFrom(0, 0, 0.01, 5);
  const rows = fc.array(fc.tuple(float32, part, size), { minLength: 2, maxLength: 30 });
  fc.assert(
    fc.property(rows, (drawn) => {
      const value = Float64Array.from(drawn, ([x]) => x);
      const radius = Float64Array.from(drawn, ([, , r]) => r);
      const sets = { ids: new Int32Array(value.length), sets: 1, value, radius };
      const bounds = valueSets(sets, 'population', { arithmetic: FLOAT32, forms: 'any' });
      const held = drawn.map(([x, by, r]) => f(x + 0.99 * r * by));
      const mean = f(held.reduce((s, x) => f(s + x), 0) / held.length);
      assert.ok(Math.abs(mean - bounds.mean[0]!) <= bounds.meanError[0]!);
      const deviation = f(Math.sqrt(f(held.reduce((s, x) => f(s + f(f(x - mean) ** 2)), 0) / held.length)));
      assert.ok(deviation >= bounds.deviationLow[0]! && deviation <= bounds.deviationHigh[0]!);
    }),
  );
});

test('sums over tokens stay within the bounds, in two passes and in one', () => {
  const row = fc.tuple(float32, fc.integer({ min: 1, max: 90 }));
  fc.assert(
    fc.property(fc.array(row, { minLength: 2, maxLength: 30 }), (drawn) => {
      const value = Float64Array.from(drawn, ([x]) => x);
      const tokens = Int32Array.from(drawn, ([, n]) => n);
      const sets = {
        ids: new Int32Array(value.length),
        sets: 1,
        value,
        radius: new Float64Array(value.length),
        tokens,
      };
      const bounds = tokenSets(sets, 'sample', FLOAT32);
      const spread = drawn.flatMap(([x, n]) => new Array<number>(n).fill(x));
      assert.ok(spread.length <= MAX_SUM_DEPTH);
      const n = spread.length;
      const mean = f(spread.reduce((s, x) => f(s + x), 0) / n);
      assert.ok(Math.abs(mean - bounds.mean[0]!) <= bounds.meanError[0]!);
      const twice = f(spread.reduce((s, x) => f(s + f(f(x - mean) ** 2)), 0) / f(n - 1));
      const squares = f(spread.reduce((s, x) => f(s + f(x * x)), 0) / n);
      const once = f(f(squares - f(mean * mean)) * f(n / (n - 1)));
      for (const variance of [twice, once]) {
        const deviation = f(Math.sqrt(Math.max(0, variance)));
        assert.ok(deviation >= bounds.deviationLow[0]! && deviation <= bounds.deviationHigh[0]!);
      }
    }),
  );
});

test('a row without tokens counts for nothing, and one that no set has is ignored', () => {
  const value = Float64Array.of(1, 3, 100, 1e30);
  const tokens = Int32Array.of(1, 1, 0, 5);
  const bounds = tokenSets(
    { ids: Int32Array.of(0, 0, 0, -1), sets: 1, value, radius: new Float64Array(4), tokens },
    'population',
    FLOAT32,
  );
  assert.deepEqual([bounds.mean[0], bounds.deviation[0], bounds.rows[0], bounds.overflow[0]], [2, 1, 3, 0]);
});
