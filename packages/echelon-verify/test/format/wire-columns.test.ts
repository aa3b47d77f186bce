import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toWire, wireFlags, wireFloat32, wireFloat64, wireInt32 } from '../../src/format/wire-columns.ts';

const place = { file: 'f', batch: 'b' };

test('columns come back as they went', () => {
  const back = (column: Int32Array | Float64Array | Float32Array | Uint8Array) => ({
    field: 'x',
    bytes: toWire(column),
    rows: column.length,
  });
  assert.deepEqual(Array.from(wireInt32(place, back(Int32Array.of(0, 7)), 8)!), [0, 7]);
  assert.deepEqual(Array.from(wireFloat64(place, back(Float64Array.of(0.1, Number.NaN)))!), [
    0.1,
    Number.NaN,
  ]);
  assert.deepEqual(Array.from(wireFloat32(place, back(Float32Array.of(0.5)))!), [0.5]);
  assert.deepEqual(Array.from(wireFlags(place, back(Uint8Array.of(1, 0)))!), [1, 0]);
});

test('numbers are little-endian', () => {
  assert.deepEqual(Array.from(toWire(Int32Array.of(258))), [2, 1, 0, 0]);
  assert.deepEqual(
    Array.from(wireInt32(place, { field: 'x', bytes: Uint8Array.of(2, 1, 0, 0), rows: 1 }, 300)!),
    [258],
  );
});

test('an empty column is absent if there are rows, and present if there are none', () => {
  assert.equal(toWire(undefined).length, 0);
  assert.equal(wireFloat64(place, { field: 'x', bytes: new Uint8Array(0), rows: 2 }), undefined);
  assert.equal(wireFloat64(place, { field: 'x', bytes: new Uint8Array(0), rows: 0 })?.length, 0);
});

test('wrong lengths and ids out of range are refused', () => {
  assert.throws(
    () => wireFloat64(place, { field: 'x', bytes: new Uint8Array(7), rows: 1 }),
    /expected 8 bytes, 8 for each of 1 rows, found 7/,
  );
  assert.throws(
    () => wireInt32(place, { field: 'x', bytes: toWire(Int32Array.of(3)), rows: 1 }, 3),
    /x\[0\]: expected an integer from 0 to 2/,
  );
  assert.throws(
    () => wireInt32(place, { field: 'x', bytes: toWire(Int32Array.of(0)), rows: 1 }, 0),
    /no rows/,
  );
});
