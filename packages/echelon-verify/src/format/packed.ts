/** Columns of a step on the wire: packed flags, runs, and float32 numbers without a copy. */

import { MAX_TOKENS } from './batch.ts';
import { faultAt, type Place } from './json-columns.ts';
import { wireInt32 } from './wire-columns.ts';

const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Flags, eight to a byte, the first one lowest. */
export function packed(flags: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(flags.length / 8));
  for (let at = 0; at < flags.length; at++) bytes[at >> 3]! |= (flags[at] === 0 ? 0 : 1) << (at & 7);
  return bytes;
}

/** One byte, 0 or 1, for each of `count` packed flags; undefined if the column is empty. */
export function flagsOf(
  place: Place,
  field: string,
  bytes: Uint8Array,
  count: number,
): Uint8Array | undefined {
  if (bytes.length === 0 && count > 0) return undefined;
  checkLength(place, field, { found: bytes.length, expected: Math.ceil(count / 8) });
  const flags = new Uint8Array(count);
  for (let at = 0; at < count; at++) flags[at] = (bytes[at >> 3]! >> (at & 7)) & 1;
  return flags;
}

/** float32 numbers: a view of `bytes` if they are aligned. Undefined if the column is empty. */
export function floatsOf(
  place: Place,
  field: string,
  bytes: Uint8Array,
  count: number,
): Float32Array | undefined {
  if (bytes.length === 0 && count > 0) return undefined;
  checkLength(place, field, { found: bytes.length, expected: 4 * count });
  if (LITTLE_ENDIAN && bytes.byteOffset % 4 === 0)
    return new Float32Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, count);
  const own = Uint8Array.from(bytes);
  if (!LITTLE_ENDIAN) Buffer.from(own.buffer).swap32();
  return new Float32Array(own.buffer);
}

/** Small numbers from 0 to `end` - 1, one byte each; undefined if the column is empty. */
export function bytesOf(
  place: Place,
  field: string,
  { bytes, count, end }: { bytes: Uint8Array; count: number; end: number },
): Uint8Array | undefined {
  if (bytes.length === 0 && count > 0) return undefined;
  checkLength(place, field, { found: bytes.length, expected: count });
  const bad = bytes.findIndex((value) => value >= end);
  if (bad < 0) return Uint8Array.from(bytes);
  const expected = `an integer from 0 to ${end - 1}`;
  throw faultAt(place, { code: 'invalid', field: `${field}[${bad}]`, expected, found: `${bytes[bad]}` });
}

/** The runs of equal values of a column. */
export function runsOf(
  column: Int32Array | undefined,
): { values: Int32Array; lengths: Int32Array } | undefined {
  if (column === undefined) return undefined;
  const values: number[] = [];
  const lengths: number[] = [];
  for (let at = 0; at < column.length; at++) {
    const last = lengths.length - 1;
    if (at > 0 && column[at] === column[at - 1]) lengths[last] = lengths[last]! + 1;
    else {
      values.push(column[at]!);
      lengths.push(1);
    }
  }
  return { values: Int32Array.from(values), lengths: Int32Array.from(lengths) };
}

/** The column that the runs stand for; undefined if there are none. */
export function unrolled(
  place: Place,
  field: string,
  from: { values: Uint8Array; lengths: Uint8Array; count: number },
): Int32Array | undefined {
  const rows = Math.floor(from.lengths.length / 4);
  const values = wireInt32(place, { field, bytes: from.values, rows }, 2 ** 31);
  const lengths = wireInt32(place, { field: `${field}_runs`, bytes: from.lengths, rows }, MAX_TOKENS + 1);
  if (values === undefined || lengths === undefined || rows === 0) return undefined;
  const column = new Int32Array(from.count);
  let at = 0;
  for (let run = 0; run < rows; run++) {
    column.fill(values[run]!, at, at + lengths[run]!);
    at += lengths[run]!;
  }
  if (at === from.count) return column;
  const expected = `runs of ${from.count} tokens in all`;
  throw faultAt(place, { code: 'wrong-length', field: `${field}_runs`, expected, found: `${at}` });
}

function checkLength(
  place: Place,
  field: string,
  { found, expected: bytes }: { found: number; expected: number },
): void {
  if (found === bytes) return;
  throw faultAt(place, {
    code: 'wrong-length',
    field,
    expected: `${bytes} bytes, one entry per token or row`,
    found: `${found}`,
  });
}
