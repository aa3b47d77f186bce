import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { FLOAT32, FLOAT64 } from '../../../src/arithmetic/arithmetic.ts';
import {
  type ClusterBounds,
  clusterBounds,
  largestPartialSums,
} from '../../../src/kernel/sets/cluster-bounds.ts';
import { randomFrom } from '../../support/random-batch.ts';
import { summations } from '../../support/recipe.ts';

function boundsOf(
  values: readonly number[],
  deviation: 'population' | 'sample' = 'population',
): ClusterBounds {
  return clusterBounds(
    { cluster: new Int32Array(values.length), count: 1, value: Float64Array.from(values) },
    deviation,
    FLOAT32,
  );
}

const float32 = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 0, max: 40 }).map((t) => Math.fround(10 * 0.95 ** t)),
  fc
    .float({ min: Math.fround(-1e6), max: Math.fround(1e6), noNaN: true })
    .map((x) => (Math.abs(x) < 1e-30 ? 0 : x)),
  fc.integer({ min: -20, max: 20 }).map((k) => Math.fround(9.5 + k * 2 ** -20)),
);

describe('cluster bounds', () => {
  test('the float32 mean and deviation lie within, in any order', () => {
    fc.assert(
      fc.property(fc.array(float32, { minLength: 2, maxLength: 40 }), fc.integer(), (values, seed) => {
        const bounds = boundsOf(values);
        for (const sum of summations(Math.fround, randomFrom(seed))) {
          const mean = Math.fround(sum(values) / values.length);
          assert.ok(Math.abs(mean - bounds.mean[0]!) <= bounds.meanError[0]!, `mean ${mean}`);
          const squares = values.map((x) => Math.fround(Math.fround(x - mean) ** 2));
          const deviation = Math.fround(Math.sqrt(Math.fround(sum(squares) / values.length)));
          assert.ok(deviation >= bounds.deviationLow[0]! && deviation <= bounds.deviationHigh[0]!);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('the bounds hold around the exact mean, though the reference is rounded itself', () => {
    const exactly = (values: readonly number[]): number => {
      // Multiples of 2^-40 below 2^60: their sum is an integer of that unit.
      const sum = values.reduce((total, x) => total + BigInt(x * 2 ** 40), 0n);
      return Number(sum / BigInt(values.length)) / 2 ** 40;
    };
    const value = fc
      .tuple(fc.integer({ min: -(2 ** 20), max: 2 ** 20 }), fc.integer({ min: -40, max: 35 }))
      .map(([m, e]) => m * 2 ** e);
    fc.assert(
      fc.property(fc.array(value, { minLength: 3, maxLength: 60 }), (values) => {
        const input = { cluster: new Int32Array(values.length), count: 1, value: Float64Array.from(values) };
        const bounds = clusterBounds(input, 'population', FLOAT64);
        if (bounds.pinned[0] === 1) return;
        const sizes = values.map(Math.abs);
        const total = sizes.reduce((sum, x) => sum + x, 0);
        const largest = Math.max(...sizes);
        const nonZero = sizes.filter((x) => x > 0).length;
        const trainer = (2 ** -53 * largestPartialSums(nonZero, largest, total)) / values.length;
        const off = Math.abs(bounds.trueMean[0]! - exactly(values));
        assert.ok(bounds.meanError[0]! >= trainer + off, `reference off by ${off}, trainer by ${trainer}`);
      }),
      { numRuns: 500 },
    );
  });

  test('equal values with representable sums have one mean, the value itself', () => {
    for (const value of [0, 10, 9.5, 0.25]) {
      const bounds = boundsOf(new Array<number>(7).fill(value));
      assert.deepEqual(
        [bounds.pinned[0], bounds.mean[0], bounds.deviationHigh[0]! < 1e-12],
        [1, value, true],
      );
    }
    const awkward = boundsOf(new Array<number>(7).fill(Math.fround(9.025)));
    assert.equal(awkward.pinned[0], 0);
    assert.equal(awkward.equal[0], 1);
  });

  test('values on one lattice have one mean, rounded', () => {
    const bounds = boundsOf([10, 0, 10]);
    assert.deepEqual([bounds.pinned[0], bounds.mean[0]], [1, Math.fround(20 / 3)]);
    assert.equal(bounds.trueMean[0], 20 / 3);
  });

  test('population and sample deviations differ by their divisor', () => {
    assert.equal(boundsOf([0, 2]).deviation[0], 1);
    assert.equal(boundsOf([0, 2], 'sample').deviation[0], Math.SQRT2);
  });

  test('errors of the inputs widen the mean by their mean, and the deviation by their root mean square', () => {
    const input = { cluster: new Int32Array(2), count: 1, value: Float64Array.of(1, 3) };
    const exact = clusterBounds(input, 'population', FLOAT32);
    const blurred = clusterBounds({ ...input, valueError: Float64Array.of(0.1, 0.2) }, 'population', FLOAT32);
    assert.equal(exact.meanError[0], 0);
    assert.ok(blurred.meanError[0]! >= 0.15 && blurred.meanError[0]! < 0.151);
    const wider = blurred.deviationHigh[0]! - exact.deviationHigh[0]!;
    assert.ok(wider >= 0.158 && wider < 0.18);
  });

  test('rows without a cluster count nowhere, and huge values are flagged', () => {
    const bounds = clusterBounds(
      { cluster: Int32Array.of(0, -1, 1), count: 2, value: Float64Array.of(1, 5, 3e38) },
      'population',
      FLOAT32,
    );
    assert.deepEqual([...bounds.size], [1, 1]);
    assert.deepEqual([...bounds.overflow], [0, 1]);
  });
});
