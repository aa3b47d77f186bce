import assert from 'node:assert/strict';
import { test } from 'node:test';
import { representatives } from '../../../src/kernel/sets/row-sets.ts';

test('the first row of a trajectory represents its rows, once in each group in which they occur', () => {
  const first = representatives(Int32Array.of(0, 0, 1, 1), Int32Array.of(3, 3, 3, 0));
  assert.deepEqual(Array.from(first), [0, 0, 2, 3]);
});
