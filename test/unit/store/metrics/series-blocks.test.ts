import assert from 'node:assert/strict';
import { test } from 'node:test';
import { condense, decodeBlock, decodeOpen } from '../../../../src/store/metrics/series-blocks.ts';

function points(steps: number[], values: number[]): Buffer {
  const bytes = Buffer.alloc(1 + steps.length * 12);
  steps.forEach((step, index) => void bytes.writeUInt32LE(step, 1 + index * 4));
  values.forEach((value, index) => void bytes.writeDoubleLE(value, 1 + steps.length * 4 + index * 8));
  return bytes;
}

const values = (items: { first: number }[]) => items.map(({ first }) => first);

test('decodeBlock reads points of any steps', () => {
  const items = decodeBlock(points([3, 5, 4], [0.5, Number.NaN, 2]), true);
  assert.deepEqual(
    items.map(({ from, to, count, nan }) => [from, to, count, nan]),
    [
      [3, 3, 1, 0],
      [5, 5, 1, 1],
      [4, 4, 1, 0],
    ],
  );
  assert.deepEqual(values(items), [0.5, Number.NaN, 2]);
  const even = Buffer.alloc(9 + 16);
  even[0] = 1;
  even.writeUInt32LE(7, 1);
  even.writeUInt32LE(10, 5);
  even.writeDoubleLE(1.5, 9);
  assert.deepEqual(
    decodeBlock(even, true).map(({ from, first }) => [from, first]),
    [
      [7, 1.5],
      [17, 0],
    ],
  );
});

test('decodeOpen sorts the newest events by metric', () => {
  assert.equal(decodeOpen(Buffer.alloc(0)).size, 0);
  const open = Buffer.alloc(2 * (6 + 10));
  for (const [at, step, metric, value] of [
    [0, 4, 2, 0.25],
    [16, 5, 2, 8],
  ] as const) {
    open.writeUInt32LE(step, at);
    open.writeUInt16LE(1, at + 4);
    open.writeUInt16LE(metric, at + 6);
    open.writeDoubleLE(value, at + 8);
  }
  assert.deepEqual(values(decodeOpen(open).get(2)!), [0.25, 8]);
});

test('condense merges the points of one range of steps, and none if there is room', () => {
  const items = decodeBlock(points([0, 1, 2, 9], [1, Number.NaN, Infinity, -3]), true).map((item) => ({
    attempt: 1,
    item,
  }));
  assert.equal(condense(items, 4).length, 4);
  assert.deepEqual(condense(items, 2), [
    {
      attempt: 1,
      from: 0,
      to: 2,
      count: 3,
      first: 1,
      last: 'Infinity',
      min: 1,
      max: 1,
      mean: 1,
      nan: 1,
      infinite: 1,
    },
    {
      attempt: 1,
      from: 9,
      to: 9,
      count: 1,
      first: -3,
      last: -3,
      min: -3,
      max: -3,
      mean: -3,
      nan: 0,
      infinite: 0,
    },
  ]);
  const same = items.map(({ attempt, item }) => ({ attempt, item: { ...item, from: 5, to: 5 } }));
  assert.equal(condense(same, 3).length, 1);
  assert.deepEqual(condense([], 3), []);
});
