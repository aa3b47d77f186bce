/** Columns of values of which the trainer's own lie within intervals. */

import type { Arithmetic } from './arithmetic.ts';

/** A column of values, and how far each may be from what the trainer used. */
export interface InputColumn {
  /** Numbers of the trainer's format. */
  readonly value: Float64Array;
  readonly error?: Float64Array | undefined;
  /** As the file states them, if these are other numbers. */
  readonly stated?: Float64Array | undefined;
  /** Distance to what the trainer may have used instead: the stated number, or its float32 rounding. */
  readonly rounding?: Float64Array | undefined;
}

/** A column as the trainer may hold it: the float64 value of each row, and the interval of the trainer's number. */
export interface IntervalColumn {
  readonly value: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
}

/** A column of zeros, as long as another. */
export function emptyColumn({ value: { length } }: IntervalColumn): IntervalColumn {
  return { value: new Float64Array(length), low: new Float64Array(length), high: new Float64Array(length) };
}

/** Writes a row: an interval that holds the value. */
export function put(out: IntervalColumn, row: number, value: number, low: number, high: number): void {
  out.value[row] = value;
  out.low[row] = Math.min(low, value);
  out.high[row] = Math.max(high, value);
}

/** Copies a row of another column. */
export function keep(out: IntervalColumn, x: IntervalColumn, row: number): void {
  put(out, row, x.value[row]!, x.low[row]!, x.high[row]!);
}

/**
 * Half of what `times` roundings of the trainer, and those of the float64 evaluation here, add to an interval. An exact 0
 * stays 0. Rounded numbers are rounded again: (1 + u)^k - 1 <= k u (1 + k u) as long as k u is below 1.
 */
export function blurOf(low: number, high: number, times: number, { unit, tiny }: Arithmetic): number {
  if (low === 0 && high === 0) return 0;
  const relative = times * unit * (1.001 + times * unit);
  return (relative + 2 ** -50) * Math.max(Math.abs(low), Math.abs(high)) + tiny;
}

/** How far the trainer's number may be from the value, row by row. */
export function radiusOf({ value, low, high }: IntervalColumn): Float64Array {
  const radius = new Float64Array(value.length);
  if (low === value && high === value) return radius;
  for (let row = 0; row < radius.length; row++)
    radius[row] = Math.max(value[row]! - low[row]!, high[row]! - value[row]!);
  return radius;
}

/** A weighted sum of k columns: k + 2 roundings of the sum of the terms' sizes, which are rounded themselves. */
export function weightedSum(
  columns: readonly { readonly column: IntervalColumn; readonly weight: number }[],
  rows: number,
  { unit }: Arithmetic,
): IntervalColumn {
  const sum = { value: new Float64Array(rows), low: new Float64Array(rows), high: new Float64Array(rows) };
  for (let row = 0; row < rows; row++) {
    let size = 0;
    for (const { column, weight } of columns) {
      const [a, b] = [weight * column.low[row]!, weight * column.high[row]!];
      sum.value[row]! += weight * column.value[row]!;
      sum.low[row]! += Math.min(a, b);
      sum.high[row]! += Math.max(a, b);
      size += Math.max(Math.abs(a), Math.abs(b));
    }
    const relative = (columns.length + 2.1) * unit;
    const blur = relative * (1 + relative) * size;
    sum.low[row]! -= blur;
    sum.high[row]! += blur;
  }
  return sum;
}

/** The numbers as stated, and how far the trainer's may be: rounded to its format, or known only in part. */
export function startOf({ value, stated, error, rounding }: InputColumn): IntervalColumn {
  const centre = stated ?? value;
  if (error === undefined && rounding === undefined) return { value: centre, low: centre, high: centre };
  const off = (row: number): number => (error?.[row] ?? 0) + (rounding?.[row] ?? 0);
  return {
    value: centre,
    low: centre.map((x, row) => x - off(row)),
    high: centre.map((x, row) => x + off(row)),
  };
}
