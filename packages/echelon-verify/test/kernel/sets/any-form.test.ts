import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { FLOAT32 } from '../../../src/arithmetic/arithmetic.ts';
import { boundAnyForm } from '../../../src/kernel/sets/any-form.ts';
import { type ClusterBounds, clusterBounds, emptyBounds } from '../../../src/kernel/sets/cluster-bounds.ts';

const f = Math.fround;

function boundsOf(values: readonly number[]): { recipe: ClusterBounds; any: ClusterBounds } {
  const value = Float64Array.from(values, f);
  const rounding = Float64Array.from(values, (x) => Math.abs(x - f(x)));
  const input = { cluster: new Int32Array(values.length), count: 1, value, rounding };
  const recipe = clusterBounds(input, 'sample', FLOAT32);
  const any = emptyBounds(1, FLOAT32);
  boundAnyForm(recipe, 0, any);
  return { recipe, any };
}

const float32 = fc.oneof(
  fc.integer({ min: 0, max: 40 }).map((t) => f(10 * 0.95 ** t)),
  fc.integer({ min: -20, max: 20 }).map((k) => f(3000.3 + k * 2 ** -12)),
  fc.float({ min: f(-1e6), max: f(1e6), noNaN: true }).map((x) => (Math.abs(x) < 1e-30 ? 0 : x)),
);

describe('the bounds of any form', () => {
  test('hold a mean by multiplication, and a running mean and deviation', () => {
    fc.assert(
      fc.property(fc.array(float32, { minLength: 2, maxLength: 50 }), (values) => {
        const { any } = boundsOf(values);
        const sum = values.reduce((s, x) => f(s + x), 0);
        const mean = f(sum * f(1 / values.length));
        assert.ok(Math.abs(mean - any.mean[0]!) <= any.meanError[0]!, 'product');
        let m = 0;
        let squares = 0;
        values.forEach((x, i) => {
          const delta = f(x - m);
          m = f(m + f(delta / (i + 1)));
          squares = f(squares + f(delta * f(x - m)));
        });
        assert.ok(Math.abs(m - any.mean[0]!) <= any.meanError[0]!, 'running mean');
        const deviation = f(Math.sqrt(f(squares / (values.length - 1))));
        assert.ok(
          deviation >= any.deviationLow[0]! && deviation <= any.deviationHigh[0]!,
          'running deviation',
        );
      }),
      { numRuns: 1000 },
    );
  });

  test('hold a deviation in one pass, whether from sums or from means', () => {
    fc.assert(
      fc.property(fc.array(float32, { minLength: 2, maxLength: 50 }), (values) => {
        const { any } = boundsOf(values);
        const n = values.length;
        const sum = values.reduce((s, x) => f(s + x), 0);
        const squares = values.reduce((s, x) => f(s + f(x * x)), 0);
        const mean = f(sum / n);
        for (const variance of [
          f(f(squares - f(f(sum * sum) / n)) / (n - 1)),
          f(f(f(f(squares / n) - f(mean * mean)) * n) / (n - 1)),
        ]) {
          const deviation = f(Math.sqrt(Math.max(0, variance)));
          assert.ok(deviation >= any.deviationLow[0]! && deviation <= any.deviationHigh[0]!);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test('of equal rewards of few bits are 0 only if every form gives 0', () => {
    for (const x of [1, 0.5, 0.75, 3, -1, 0.35, 1e6 + 1])
      for (let n = 2; n <= 300; n++) {
        const { any } = boundsOf(Array.from({ length: n }, () => f(x)));
        const sum = f(n * f(x));
        const square = f(f(x) * f(x));
        const reciprocal = f(1 / n);
        const means = [f(sum / n), f(sum * reciprocal)];
        for (const mean of means)
          assert.ok(Math.abs(mean - any.mean[0]!) <= any.meanError[0]!, `mean of ${n} times ${x}`);
        const squares = f(n * square);
        const variances = [
          f(squares - f(f(sum * sum) / n)),
          ...means.flatMap((mean) => [
            f(squares - f(n * f(mean * mean))),
            f(f(squares / n) - f(mean * mean)),
            f(f(squares * reciprocal) - f(mean * mean)),
          ]),
        ];
        for (const variance of variances)
          assert.ok(f(Math.sqrt(Math.max(0, variance))) <= any.deviationHigh[0]! * n, `${n} times ${x}`);
        if (any.deviationHigh[0] === 0) assert.ok(variances.every((variance) => variance === 0));
      }
    const ones = boundsOf([1, 1, 1, 1, 1, 1, 1, 1]).any;
    assert.deepEqual([ones.meanError[0], ones.deviationLow[0], ones.deviationHigh[0]], [0, 0, 0]);
  });

  test('hold those of the recipe', () => {
    fc.assert(
      fc.property(fc.array(float32, { minLength: 2, maxLength: 50 }), (values) => {
        // The deviation of equal values is 0 in any form; the recipe's bounds allow for underflow.
        fc.pre(new Set(values).size > 1);
        const { recipe, any } = boundsOf(values);
        const off = Math.abs(recipe.mean[0]! - any.mean[0]!);
        assert.ok(any.meanError[0]! >= recipe.meanError[0]! + off);
        assert.ok(any.deviationLow[0]! <= recipe.deviationLow[0]!);
        assert.ok(any.deviationHigh[0]! >= recipe.deviationHigh[0]!);
      }),
    );
  });

  test('hold inputs as they are stated and as they are rounded', () => {
    const { any } = boundsOf([9.9, 9.8, 9.9]);
    assert.ok(any.inputError[0]! > 0);
    for (const values of [
      [9.9, 9.8, 9.9],
      [f(9.9), f(9.8), f(9.9)],
    ]) {
      const mean = values.reduce((sum, x) => sum + x, 0) / 3;
      assert.ok(Math.abs(mean - any.mean[0]!) <= any.meanError[0]!);
    }
  });

  test('tell where the squares of the values may overflow, though those of their distances do not', () => {
    const { recipe, any } = boundsOf([1e19, 1.0001e19]);
    assert.deepEqual([recipe.overflow[0], any.overflow[0]], [0, 1]);
  });

  test('leave zeros what they are', () => {
    const { any } = boundsOf([0, 0, 0]);
    assert.deepEqual([any.mean[0], any.meanError[0]], [0, 0]);
  });
});
