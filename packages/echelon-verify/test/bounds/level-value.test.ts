import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FLOAT32 } from '../../src/arithmetic/arithmetic.ts';
import {
  boundPart,
  boundSingle,
  emptyPart,
  isRefinable,
  type Part,
  refinePart,
} from '../../src/bounds/level-value.ts';
import type { Norm } from '../../src/kernel/estimators/estimator.ts';
import { clusterBounds } from '../../src/kernel/sets/cluster-bounds.ts';

function partOf(values: readonly number[], row: number, norm: Norm = 'deviation'): Part {
  const value = Float64Array.from(values, Math.fround);
  const bounds = clusterBounds(
    { cluster: new Int32Array(values.length), count: 1, value },
    'population',
    FLOAT32,
  );
  const part = { ...emptyPart(bounds), value: value[row]!, norm, epsilon: 1e-6 };
  boundPart(part);
  return part;
}

const inside = (part: Part, x: number): boolean => x >= part.low && x <= part.high;

describe('the value of one level', () => {
  test('holds the true value closely', () => {
    const part = partOf([0, 5, 10.1], 2);
    const mean = 15.1 / 3;
    const truth = (10.1 - mean) / (Math.sqrt((mean ** 2 + (5 - mean) ** 2 + (10.1 - mean) ** 2) / 3) + 1e-6);
    assert.ok(inside(part, truth));
    assert.ok(part.high - part.low < 4e-6 * truth);
    assert.equal(part.zero, 'never');
  });

  test('is surely 0 where the mean is known and is the value', () => {
    assert.equal(partOf([0, 5, 10], 1).zero, 'surely');
    assert.equal(partOf([9.5, 9.5, 9.5], 0).zero, 'surely');
  });

  test('may be 0 or a residue where equal values have no exact sum, and the residues are few', () => {
    const part = partOf([9.025, 9.025, 9.025, 9.025, 9.025, 9.025, 9.025], 0);
    assert.equal(part.zero, 'maybe');
    assert.ok(isRefinable(part));
    const pairs = refinePart(part)!;
    const residue = 2 ** -20;
    const holds = (x: number): boolean =>
      pairs.some((low, i) => i % 2 === 0 && x >= low && x <= pairs[i + 1]!);
    assert.ok(
      holds(residue / (residue + 1e-6)) && holds(-residue / (residue + 1e-6)) && holds(residue / 1e-6),
    );
    assert.ok(inside(part, 0.4) && !holds(0.4));
  });

  test('without a deviation it is a difference of float32 numbers', () => {
    const part = partOf([10, 9.9, 10, 9.9, 10, 10, 10], 0, 'none');
    const pairs = refinePart(part)!;
    assert.ok(pairs.every((x) => Number.isInteger(x * 2 ** 20)));
  });

  test('leave-one-out scales by n / (n - 1)', () => {
    const part = partOf([10, 0, 0.1], 0, 'leave-one-out');
    assert.ok(inside(part, 9.95));
    assert.ok(part.high - part.low < 2e-5);
    assert.ok(refinePart(part)!.length > 2);
  });

  test('a group of one passes its value through', () => {
    const part = partOf([7], 0);
    boundSingle(part);
    assert.ok(inside(part, 7 / (1 + 1e-6)) && !inside(part, 6.9999));
    const plain = partOf([7], 0, 'none');
    boundSingle(plain);
    assert.deepEqual([plain.low, plain.high], [7, 7]);
  });
});
