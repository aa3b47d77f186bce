import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  columnOf,
  flagColumn,
  float32Column,
  integerColumn,
  nameColumn,
  numberColumn,
} from '../../src/format/json-columns.ts';

const place = { file: 'f', batch: 'b' };

test('a column that is omitted or null is undefined', () => {
  assert.equal(columnOf(place, 'x', undefined, 2), undefined);
  assert.equal(numberColumn(place, 'x', null, 2), undefined);
  assert.throws(() => columnOf(place, 'x', 'no', 2), /field x: expected an array of 2 entries, found "no"/);
});

test('numbers, with null for NaN; float32 rounds', () => {
  assert.deepEqual(Array.from(numberColumn(place, 'x', [0.1, null], 2)!), [0.1, Number.NaN]);
  assert.deepEqual(Array.from(float32Column(place, 'x', [0.1, 1e300], 2)!), [Math.fround(0.1), Infinity]);
  assert.throws(() => numberColumn(place, 'x', [true, 1], 2), /x\[0\]/);
});

test('integers inside their range, flags, and nothing else', () => {
  assert.deepEqual(Array.from(integerColumn(place, 'x', [0, 3], { rows: 2, largest: 3 })!), [0, 3]);
  for (const bad of [4, -1, 0.5, '1', null]) {
    assert.throws(
      () => integerColumn(place, 'x', [0, bad], { rows: 2, largest: 3 }),
      /x\[1\]: expected an integer from 0 to 3/,
    );
  }
  assert.deepEqual(Array.from(flagColumn(place, 'x', [true, false, 1, 0], 4)!), [1, 0, 1, 0]);
  assert.throws(() => flagColumn(place, 'x', [2], 1), /x\[0\]: expected true or false/);
});

test('names become ids by first appearance; 1 and "1" are two', () => {
  const { ids, names } = nameColumn(place, 'x', ['b', 'a', 'b', 1, '1']);
  assert.deepEqual(Array.from(ids), [0, 1, 0, 2, 3]);
  assert.deepEqual(names, ['b', 'a', '1', '1']);
  assert.throws(() => nameColumn(place, 'x', ['a', {}]), /x\[1\]/);
});
