import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstRows } from '../../src/kernel/group-sums.ts';

test('firstRows marks a trajectory once in each group it occurs in', () => {
  const marks = firstRows(Int32Array.of(0, 0, 1, 1), Int32Array.of(3, 3, 3, 0));
  assert.deepEqual(Array.from(marks), [1, 0, 1, 1]);
});
