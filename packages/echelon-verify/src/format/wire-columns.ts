import { MAX_ROWS } from './batch.ts';
import type { Place } from './json-columns.ts';
import { faultAt } from './json-columns.ts';

/** Throws a BatchFormatError for a batch with too many rows. */
export function checkRows(place: Place, rows: number): void {
  const expected = `at most ${MAX_ROWS}`;
  if (rows > MAX_ROWS) throw faultAt(place, { code: 'too-large', field: 'rows', expected, found: `${rows}` });
}

/** A column of the wire: little-endian numbers without padding, at any offset. */
export interface WireColumn {
  readonly field: string;
  readonly bytes: Uint8Array;
  readonly rows: number;
}

/** The column's own buffer, aligned; undefined if the column is empty although the batch has rows. */
function columnBuffer(place: Place, column: WireColumn, width: number): ArrayBuffer | undefined {
  const { field, bytes, rows } = column;
  if (bytes.length === 0 && rows > 0) return undefined;
  if (bytes.length !== rows * width) {
    throw faultAt(place, {
      code: 'wrong-length',
      field,
      expected: `${rows * width} bytes, ${width} for each of ${rows} rows`,
      found: `${bytes.length}`,
    });
  }
  const own = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  return LITTLE_ENDIAN ? own : swapped(own, width);
}

/** float64 numbers. */
export function wireFloat64(place: Place, column: WireColumn): Float64Array | undefined {
  const buffer = columnBuffer(place, column, 8);
  return buffer === undefined ? undefined : new Float64Array(buffer);
}

/** float32 numbers, widened. */
export function wireFloat32(place: Place, column: WireColumn): Float64Array | undefined {
  const buffer = columnBuffer(place, column, 4);
  return buffer === undefined ? undefined : new Float64Array(new Float32Array(buffer));
}

/** 0 or 1. */
export function wireFlags(place: Place, column: WireColumn): Uint8Array | undefined {
  const buffer = columnBuffer(place, column, 1);
  if (buffer === undefined) return undefined;
  const flags = new Uint8Array(buffer);
  checkRange(place, column.field, { values: flags, end: 2 });
  return flags;
}

/** int32 numbers from 0 to `end` - 1. */
export function wireInt32(place: Place, column: WireColumn, end: number): Int32Array | undefined {
  const buffer = columnBuffer(place, column, 4);
  if (buffer === undefined) return undefined;
  const values = new Int32Array(buffer);
  checkRange(place, column.field, { values, end });
  return values;
}

function checkRange(
  place: Place,
  field: string,
  range: { values: Int32Array | Uint8Array; end: number },
): void {
  const { values, end } = range;
  // A negative sign wherever a value is outside: no branch for each.
  let signs = end - 1;
  for (let row = 0; row < values.length; row++) signs |= values[row]! | (end - 1 - values[row]!);
  if (signs >= 0 || values.length === 0) return;
  for (let row = 0; row < values.length; row++) {
    const value = values[row]!;
    if (value >= 0 && value < end) continue;
    const expected =
      end > 0 ? `an integer from 0 to ${end - 1}` : 'no rows, since there are no entries to point to';
    throw faultAt(place, { code: 'invalid', field: `${field}[${row}]`, expected, found: String(value) });
  }
}

/** The bytes of a column as the wire wants them. */
export function toWire(
  column: Int32Array | Float32Array | Float64Array | Uint8Array | undefined,
): Uint8Array {
  if (column === undefined) return new Uint8Array(0);
  const { buffer, byteOffset, byteLength, BYTES_PER_ELEMENT } = column;
  if (LITTLE_ENDIAN) return new Uint8Array(buffer, byteOffset, byteLength);
  return new Uint8Array(
    swapped(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer, BYTES_PER_ELEMENT),
  );
}

const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

function swapped(buffer: ArrayBuffer, width: number): ArrayBuffer {
  const bytes = Buffer.from(buffer);
  if (width === 4) bytes.swap32();
  if (width === 8) bytes.swap64();
  return buffer;
}
