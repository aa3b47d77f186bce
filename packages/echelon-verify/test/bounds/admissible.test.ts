import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FLOAT32 } from '../../src/arithmetic/arithmetic.ts';
import { admits, BATCH_EFFORT, hull, type RowParts } from '../../src/bounds/admissible.ts';
import { emptyPart, type Part, setPart } from '../../src/bounds/level-value.ts';
import { clusterBounds } from '../../src/kernel/sets/cluster-bounds.ts';

const BOUNDS = clusterBounds(
  { cluster: Int32Array.of(0, 0), count: 1, value: Float64Array.of(0, 2) },
  'population',
  FLOAT32,
);

function part(weight: number, low: number, high: number): Part {
  const made = { ...emptyPart(BOUNDS), weight };
  setPart(made, low, high);
  return made;
}

function rowOf(parts: Part[], combination: RowParts['combination'] = 'weighted'): RowParts {
  return { parts, combination, weightEpsilon: 1e-6, arithmetic: FLOAT32 };
}

const admitted = (row: RowParts, value: number): boolean => admits(row, value, { left: BATCH_EFFORT });

describe('the values a row can have', () => {
  test('a weighted mean of what is there', () => {
    const row = rowOf([part(2, 1, 1), part(3, 2, 2)]);
    assert.ok(admitted(row, 8 / (5 + 1e-6)));
    assert.ok(!admitted(row, 1.5999) && !admitted(row, 8 / 5 + 1e-5));
  });

  test('a level that may be 0 may be in or out, and nothing in between', () => {
    const row = rowOf([part(2, 1, 1), part(3, -1e-7, 1e-7)]);
    assert.ok(admitted(row, 2 / (2 + 1e-6)), 'out');
    assert.ok(admitted(row, 2 / (5 + 1e-6)), 'in');
    assert.ok(!admitted(row, 0.7));
    const { low, high } = hull(row);
    assert.ok(low <= 0.4 && high >= 0.9999995);
  });

  test('a level that is surely 0 is out', () => {
    const row = rowOf([part(2, 1, 1), part(3, 0, 0)]);
    assert.ok(admitted(row, 2 / (2 + 1e-6)) && !admitted(row, 0.4));
  });

  test('nothing left gives 0', () => {
    assert.ok(admitted(rowOf([]), 0) && !admitted(rowOf([]), 1e-6));
    assert.ok(admitted(rowOf([part(2, 0, 0)]), 0));
  });

  test('parts of a sum are added, zeros too', () => {
    const row = rowOf([part(1, 1, 1), part(0.5, 4, 4)], 'sum');
    assert.ok(admitted(row, 3) && !admitted(row, 3.00001));
    assert.ok(admitted(rowOf([part(1, 1, 1), part(-1, 2, 2)], 'sum'), -1));
  });

  test('many levels that may be 0 fall back to what any weighted mean can be', () => {
    const row = rowOf([part(1, 1, 1), ...Array.from({ length: 12 }, () => part(1, -0.1, 0.1))]);
    assert.ok(admitted(row, 0.5) && admitted(row, 1) && !admitted(row, 1.01) && !admitted(row, -0.2));
  });

  test('without effort left the coarser bounds count', () => {
    const values = Float64Array.from({ length: 7 }, () => Math.fround(9.025));
    const bounds = clusterBounds(
      { cluster: new Int32Array(7), count: 1, value: values },
      'population',
      FLOAT32,
    );
    const coarse = { ...emptyPart(bounds), value: values[0]!, epsilon: 1e-6, weight: 2 };
    setPart(coarse, -3, 3);
    assert.ok(!admitted(rowOf([coarse]), 0.4));
    assert.ok(admits(rowOf([coarse]), 0.4, { left: 0 }));
  });
});
