import type { BatchFormatCode } from './format-error.ts';
import { BatchFormatError, describeValue } from './format-error.ts';

/** Where the reader stands, for its messages. */
export interface Place {
  readonly file: string;
  readonly batch: string;
  /** What the estimator's parameters are called: `params` in a file, `estimator` on the wire. */
  readonly params?: string;
}

/** The error for something at `field`. */
export function faultAt(
  place: Place,
  fault: { code: BatchFormatCode; field: string; expected: string; found?: string },
): BatchFormatError {
  return new BatchFormatError({ ...place, ...fault });
}

/** The error for a value of the wrong kind. */
export function invalidAt(place: Place, field: string, expected: string, value: unknown): BatchFormatError {
  return faultAt(place, { code: 'invalid', field, expected, found: describeValue(value) });
}

/** The array of a column with one entry per row; undefined if the batch omits it. */
export function columnOf(place: Place, field: string, value: unknown, rows: number): unknown[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw invalidAt(place, field, `an array of ${rows} entries`, value);
  if (value.length !== rows) {
    throw faultAt(place, {
      code: 'wrong-length',
      field,
      expected: `${rows} entries, one per row`,
      found: `${value.length}`,
    });
  }
  return value;
}

/** Numbers, null standing for NaN. */
export function numberColumn(
  place: Place,
  field: string,
  value: unknown,
  rows: number,
): Float64Array | undefined {
  const entries = columnOf(place, field, value, rows);
  if (entries === undefined) return undefined;
  const column = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    const entry = entries[row];
    if (typeof entry === 'number') column[row] = entry;
    else if (entry === null) column[row] = Number.NaN;
    else throw invalidAt(place, `${field}[${row}]`, 'a number, or null for NaN', entry);
  }
  return column;
}

/** As {@link numberColumn}, each number rounded to float32, since that is what the trainer held. */
export function float32Column(
  place: Place,
  field: string,
  value: unknown,
  rows: number,
): Float64Array | undefined {
  const column = numberColumn(place, field, value, rows);
  if (column !== undefined) for (let row = 0; row < rows; row++) column[row] = Math.fround(column[row]!);
  return column;
}

/** Integers from 0 to `largest`. */
export function integerColumn(
  place: Place,
  field: string,
  value: unknown,
  range: { rows: number; largest: number },
): Int32Array | undefined {
  const entries = columnOf(place, field, value, range.rows);
  if (entries === undefined) return undefined;
  const column = new Int32Array(range.rows);
  for (let row = 0; row < range.rows; row++) {
    const entry = entries[row];
    if (typeof entry !== 'number' || !Number.isInteger(entry) || entry < 0 || entry > range.largest) {
      throw invalidAt(place, `${field}[${row}]`, `an integer from 0 to ${range.largest}`, entry);
    }
    column[row] = entry;
  }
  return column;
}

/** true or false, or 1 or 0, as 1 or 0. */
export function flagColumn(
  place: Place,
  field: string,
  value: unknown,
  rows: number,
): Uint8Array | undefined {
  const entries = columnOf(place, field, value, rows);
  if (entries === undefined) return undefined;
  const column = new Uint8Array(rows);
  for (let row = 0; row < rows; row++) {
    const entry = entries[row];
    if (entry === true || entry === 1) column[row] = 1;
    else if (entry !== false && entry !== 0)
      throw invalidAt(place, `${field}[${row}]`, 'true or false', entry);
  }
  return column;
}

/** Names as dense ids, by first appearance. Texts and numbers; 1 and "1" are two names. */
export function nameColumn(
  place: Place,
  field: string,
  entries: unknown[],
): { ids: Int32Array; names: string[] } {
  const idOf = new Map<unknown, number>();
  const ids = new Int32Array(entries.length);
  for (let row = 0; row < entries.length; row++) {
    const entry = entries[row];
    if (typeof entry !== 'string' && typeof entry !== 'number') {
      throw invalidAt(place, `${field}[${row}]`, 'a text or a number that names it', entry);
    }
    let id = idOf.get(entry);
    if (id === undefined) {
      id = idOf.size;
      idOf.set(entry, id);
    }
    ids[row] = id;
  }
  return { ids, names: Array.from(idOf.keys(), String) };
}
