import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BatchRows } from 'echelon-client/calls';
import { heatColumns, linesOf, orderOf, pixelsOf } from '../../src/models/heat-map.ts';

const ROWS = {
  row: [0, 1, 2, 3],
  groups: ['g', 'h'],
  group: [1, 0, 0, 0],
  trajectories: ['s', 't'],
  trajectory: [1, 0, 0, 1],
  step: [0, 1, 0, 0],
  outcome: ['exact', 'wrong', 'exact', 'exact'],
  reported: [0, 2, -2, null],
  true: [0, 2, -2, 0],
  levels: [
    { level: 0, advantage: [0, 2, -2, 0], share: [1, 1, 1, 0], dropped: [null, null, null, 'singleton'] },
    { level: -1, advantage: [0, 0, 0, 0], share: [0, 0, 0, 0], dropped: [null, null, null, null] },
  ],
} as unknown as BatchRows;

test('rows are sorted by group, trajectory and step, and filtered', () => {
  assert.deepEqual(orderOf(ROWS), [2, 1, 3, 0]);
  assert.deepEqual(orderOf(ROWS, { outcome: 'wrong' }), [1]);
  assert.deepEqual(orderOf(ROWS, { group: 'g', trajectory: 't' }), [3]);
});

test('columns begin with the group and end with the reported advantage', () => {
  const names = heatColumns(ROWS).map(({ name }) => name);
  assert.deepEqual(names, ['group', 'k=0', 'true', 'reported']);
});

test('a line that stands for several rows shows the worst of them', () => {
  assert.deepEqual(linesOf(ROWS, [2, 1, 3, 0], 2), [1, 3]);
  assert.deepEqual(linesOf(ROWS, [2, 1, 3, 0], 100), [2, 1, 3, 0]);
});

test('the colour is the sign and the size of the advantage; dropped levels and missing values are pale', () => {
  const palette = {
    positive: [0, 255, 0],
    negative: [255, 0, 0],
    zero: [255, 255, 255],
    none: [9, 9, 9],
  } as const;
  const pixel = (at: number, column: number) =>
    [...pixelsOf(heatColumns(ROWS), [at], palette)].slice(column * 4, column * 4 + 3);
  assert.deepEqual(pixel(1, 1), [0, 255, 0]);
  assert.deepEqual(pixel(2, 1), [255, 0, 0]);
  assert.deepEqual(pixel(0, 1), [255, 255, 255]);
  assert.deepEqual(pixel(3, 1), [9, 9, 9]);
  assert.deepEqual(pixel(3, 3), [9, 9, 9]);
});
