import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHeap } from '../../../src/scheduler/heap.ts';

test('a heap returns numbers in ascending order, equal numbers included', () => {
  const heap = createHeap<number>((a, b) => a < b);
  const numbers = [5, 3, 8, 3, 1, 9, 7, 1, 0];
  for (const number of numbers) heap.push(number);
  assert.equal(heap.peek(), 0);
  assert.deepEqual(
    numbers.map(() => heap.pop()),
    numbers.toSorted((a, b) => a - b),
  );
  assert.equal(heap.pop(), undefined);
  assert.equal(heap.peek(), undefined);
});

test('a heap that was emptied takes new items', () => {
  const heap = createHeap<number>((a, b) => a < b);
  heap.push(2);
  heap.pop();
  heap.push(4);
  heap.push(3);
  assert.equal(heap.pop(), 3);
});
