import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addBase, clearTotals, createTotals, settleTotals } from '../../src/kernel/levels.ts';

const slice = {
  trajectory: Int32Array.of(0, 0, 0),
  observation: Int32Array.of(0, 1, 2),
  values: new Float64Array(3),
  order: Int32Array.of(2, 0, 1),
  from: 0,
  to: 3,
};

test('a row to which nothing was added settles at 0, with and without an epsilon', () => {
  for (const epsilon of [0, 1e-6]) {
    const totals = createTotals(3);
    clearTotals(totals, 3, epsilon);
    addBase(totals, slice, Float64Array.of(0, 4, Number.NaN), false);
    const into = new Float64Array(3).fill(9);
    settleTotals(totals, slice, into);
    assert.deepEqual(Array.from(into), [0, 4 / (1 + epsilon), Number.NaN]);
  }
});

test('a zero that keeps its weight draws the mean towards it', () => {
  const totals = createTotals(3);
  clearTotals(totals, 3, 0);
  addBase(totals, slice, Float64Array.of(0, 4, 0), true);
  addBase(totals, slice, Float64Array.of(6, 0, 0), true);
  const into = new Float64Array(3);
  settleTotals(totals, slice, into);
  assert.deepEqual(Array.from(into), [3, 2, 0]);
});
