import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupedBy } from '../../src/base/grouped-by.ts';

test('items are grouped by their keys, in the order of first appearance', () => {
  const groups = groupedBy([3, 1, 2, 4, 5], (n) => n % 2);
  assert.deepEqual(
    [...groups],
    [
      [1, [3, 1, 5]],
      [0, [2, 4]],
    ],
  );
});
