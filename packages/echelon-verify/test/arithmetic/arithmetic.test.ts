import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  arithmeticOf,
  BFLOAT16,
  FLOAT32,
  FLOAT64,
  lowestBitExponent,
  nextFloat32,
  roundToBfloat16,
  roundToFloat16,
} from '../../src/arithmetic/arithmetic.ts';
import { bfloat16 } from '../support/bfloat16.ts';

test('a batch computes in the arithmetic that it states', () => {
  assert.equal(arithmeticOf('float32'), FLOAT32);
  assert.equal(arithmeticOf('float64'), FLOAT64);
  const { unit, reportUnit } = arithmeticOf('bfloat16-output');
  assert.deepEqual([arithmeticOf('bfloat16').unit, unit, reportUnit], [2 ** -8, 2 ** -24, 2 ** -8]);
});

test('rounding to bfloat16 is to the nearest number, ties to even', () => {
  const ties = [1 + 2 ** -8, 1 + 3 * 2 ** -8, -(257 * 2 ** -20), 511.5];
  fc.assert(
    fc.property(
      fc.oneof(fc.double({ min: -1e30, max: 1e30, noNaN: true }), fc.constantFrom(...ties)),
      (x) => {
        if (Math.abs(x) < 1e-30) return;
        assert.equal(roundToBfloat16(x), bfloat16(x));
        assert.ok(Math.abs(bfloat16(x) - x) <= BFLOAT16.unit * Math.abs(x));
      },
    ),
  );
  assert.equal(roundToBfloat16(1 + 2 ** -8), 1);
  assert.equal(roundToBfloat16(1 + 3 * 2 ** -8), 1 + 2 ** -6);
});

test('rounding to float16 is to the nearest number, ties to even, to zero and to infinity', () => {
  const edges = [65_519.99, 65_520, 2 ** -14, 3 * 2 ** -25, 5 * 2 ** -25, 2 ** -25, 2 ** -24 * 1.5, 1e-9];
  const numbers = [
    fc.double({ min: -1e5, max: 1e5, noNaN: true }),
    fc.double({ min: -1e-4, max: 1e-4, noNaN: true }),
    fc.constantFrom(...edges, ...edges.map((x) => -x)),
  ];
  fc.assert(
    // Zeros of either sign are one number here.
    fc.property(fc.oneof(...numbers), (x) => assert.equal(roundToFloat16(x) + 0, Math.f16round(x) + 0)),
  );
});

test('the unit roundoff is the largest relative error of rounding', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-30, max: 1e30, noNaN: true }), (x) => {
      assert.ok(Math.abs(FLOAT32.round(x) - x) <= FLOAT32.unit * x);
      assert.equal(FLOAT64.round(x), x);
    }),
  );
});

test('a finite number is an odd multiple of 2 to its lowest bit', () => {
  for (const [x, e] of [
    [1, 0],
    [-6, 1],
    [0.75, -2],
    [2 ** 40 + 2 ** 3, 3],
    [5e-324, -1074],
    [2 ** -1060 * 12, -1058],
  ] as const) {
    assert.equal(lowestBitExponent(x), e, String(x));
  }
  fc.assert(
    fc.property(fc.double({ min: -1e100, max: 1e100, noNaN: true }), (x) => {
      if (x === 0 || Math.abs(x) < 1e-200) return;
      const multiple = x / 2 ** lowestBitExponent(x);
      assert.ok(Number.isInteger(multiple) && Math.abs(multiple % 2) === 1);
    }),
  );
  assert.equal(lowestBitExponent(0), Number.POSITIVE_INFINITY);
  assert.equal(lowestBitExponent(Number.NaN), Number.NEGATIVE_INFINITY);
});

test('between a float32 number and the next there is no other', () => {
  fc.assert(
    fc.property(fc.float({ min: Math.fround(-1e30), max: Math.fround(1e30), noNaN: true }), (x) => {
      const next = nextFloat32(x);
      assert.ok(next > x);
      assert.equal(Math.fround(next), next);
      const middle = Math.fround((x + next) / 2);
      assert.ok(middle === x || middle === next);
    }),
  );
});
