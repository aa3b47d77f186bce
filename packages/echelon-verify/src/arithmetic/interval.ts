/** Numbers of which the trainer's own lie within intervals, one by one and in columns. */

import type { Arithmetic } from './arithmetic.ts';

/** A number that the trainer computed: the exact value, and the interval that holds the trainer's. Reused from token to token. */
export interface Interval {
  value: number;
  low: number;
  high: number;
}

/** An interval of 0. Written as −0, which is no small integer: V8 then keeps the numbers in place instead of allocating each. */
export const emptyInterval = (): Interval => ({ value: -0, low: -0, high: -0 });

/** Numbers below float32's smallest normal one are flushed to 0 by GPUs. bfloat16 has the same range. */
export const TINY = 2 ** -126;
/** The largest number of bfloat16: one beyond it may be infinite. At 2^128 every one is. */
const MAY_OVERFLOW = 2 ** 127 * (2 - 2 ** -7);
const OVERFLOWS = 2 ** 128;

/** Sets an interval to a value with an absolute error. A number that leaves the range of the arithmetic is infinite, or may be. */
export function around(interval: Interval, value: number, error: number): void {
  const blur = error === 0 ? 0 : error + TINY;
  interval.value = value;
  interval.low = value - blur;
  interval.high = value + blur;
  if (interval.high > MAY_OVERFLOW || interval.low < -MAY_OVERFLOW) overflow(interval);
}

function overflow(interval: Interval): void {
  if (interval.low >= OVERFLOWS || interval.value === Number.POSITIVE_INFINITY)
    exactly(interval, Number.POSITIVE_INFINITY);
  else if (interval.high <= -OVERFLOWS || interval.value === Number.NEGATIVE_INFINITY)
    exactly(interval, Number.NEGATIVE_INFINITY);
  else if (interval.high > MAY_OVERFLOW) interval.high = Number.POSITIVE_INFINITY;
  else interval.low = Number.NEGATIVE_INFINITY;
}

/** A number of a row that the trainer holds in its arithmetic, with its error: infinite, or of unknown size, beyond the range. */
export function inRange(value: number, error: number): readonly [number, number] {
  if (!(value + error > MAY_OVERFLOW)) return [value, error];
  return value - error >= OVERFLOWS ? [Number.POSITIVE_INFINITY, 0] : [value, Number.POSITIVE_INFINITY];
}

/** Sets an interval to a known number. */
export function exactly(interval: Interval, value: number): void {
  interval.value = value;
  interval.low = value;
  interval.high = value;
}

/** Widens an interval so that it holds a number: the trainer may have taken the other side of a comparison. */
export function include(interval: Interval, value: number): void {
  if (value < interval.low) interval.low = value;
  if (value > interval.high) interval.high = value;
}

/** The largest distance of the trainer's number from the value. */
export function errorOf({ value, low, high }: Interval): number {
  return Math.max(value - low, high - value);
}

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

/** A column of intervals, one for each row. */
export type IntervalColumn = { readonly [K in keyof Interval]: Float64Array };

/** A column of zeros. `isExact`: its ends are its values, written once. */
export function emptyColumn(length: number, isExact = false): IntervalColumn {
  const value = new Float64Array(length);
  if (isExact) return { value, low: value, high: value };
  return { value, low: new Float64Array(length), high: new Float64Array(length) };
}

/** Writes a row: an interval that holds the value. */
export function put(out: IntervalColumn, row: number, value: number, low: number, high: number): void {
  out.low[row] = Math.min(low, value);
  out.high[row] = Math.max(high, value);
  // The last, since the ends of an exact column are its values.
  out.value[row] = value;
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
export function radiusOf(column: IntervalColumn): Float64Array {
  const { value, low, high } = column;
  const radius = new Float64Array(value.length);
  if (low === value && high === value) return radius;
  for (let row = 0; row < radius.length; row++) radius[row] = radiusAt(column, row);
  return radius;
}

/** The same of one row. */
export function radiusAt({ value, low, high }: IntervalColumn, row: number): number {
  return Math.max(value[row]! - low[row]!, high[row]! - value[row]!);
}

/** A weighted sum of k columns: k + 2 roundings of the sum of the terms' sizes, which are rounded themselves. */
export function weightedSum(
  columns: readonly { readonly column: IntervalColumn; readonly weight: number }[],
  rows: number,
  { unit }: Arithmetic,
): IntervalColumn {
  const relative = (columns.length + 2.1) * unit;
  const sum = emptyColumn(rows);
  for (let row = 0; row < rows; row++) {
    let [value, low, high, size] = [0, 0, 0, 0];
    for (const { column, weight } of columns) {
      const [a, b] = [weight * column.low[row]!, weight * column.high[row]!];
      value += weight * column.value[row]!;
      low += Math.min(a, b);
      high += Math.max(a, b);
      size += Math.max(Math.abs(a), Math.abs(b));
    }
    const blur = relative * (1 + relative) * size;
    sum.value[row] = value;
    sum.low[row] = low - blur;
    sum.high[row] = high + blur;
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
