/**
 * The arithmetic of a training step: how far the trainer's number of one token may be from the exact one. The inputs are the
 * tensors that the loss consumed, so they are known exactly.
 */

import { BFLOAT16, FLOAT32, MAX_SUM_DEPTH } from '../../arithmetic/arithmetic.ts';
import type { StepPrecision } from '../../format/step-settings.ts';

/** One arithmetic, as far as the bounds of a step need it. */
export interface StepArithmetic {
  readonly name: StepPrecision;
  /** Unit roundoff u: a rounded result is the exact one times (1 + d), |d| <= u. */
  readonly unit: number;
  /** Unit roundoff inside a sum: torch adds bfloat16 numbers in float32. */
  readonly sumUnit: number;
}

const ARITHMETICS: Readonly<Record<StepPrecision, StepArithmetic>> = {
  float32: { name: 'float32', unit: FLOAT32.unit, sumUnit: FLOAT32.unit },
  bfloat16: { name: 'bfloat16', unit: BFLOAT16.unit, sumUnit: FLOAT32.unit },
};

/** The arithmetic of the stated precision. */
export function stepArithmetic(precision: StepPrecision): StepArithmetic {
  return ARITHMETICS[precision];
}

/**
 * Relative error of exp(x) for an x that is a rounded difference. The difference rounds once, which is u|x| in x; the fast
 * form 2^(x log2 e) adds u|x| and 3u, a library's kernel 2 ulp, which is at most 4u; one more u for the input's own rounding of
 * a clamp. Products of these are below another u for |x| < 80.
 */
export function expError(x: number, { unit }: StepArithmetic): number {
  return (2 * Math.abs(x) + 6) * unit;
}

/** Error of a sum of `count` terms of the total size `size`, in any order, with `more` roundings of the terms. */
export function sumError(count: number, size: number, more: number, arithmetic: StepArithmetic): number {
  const depth = Math.min(count, MAX_SUM_DEPTH);
  return (depth * arithmetic.sumUnit + more * arithmetic.unit) * size;
}

/** A number that the trainer computed: the exact value, and the interval that holds the trainer's. Reused from token to token. */
export interface Term {
  value: number;
  low: number;
  high: number;
}

/** A term of 0. Written as −0, which is no small integer: V8 then keeps the numbers in place instead of allocating each. */
export const emptyTerm = (): Term => ({ value: -0, low: -0, high: -0 });

/** Numbers below float32's smallest normal one are flushed to 0 by GPUs. bfloat16 has the same range. */
export const TINY = 2 ** -126;
/** The largest number of bfloat16: one beyond it may be infinite. At 2^128 every one is. */
const MAY_OVERFLOW = 2 ** 127 * (2 - 2 ** -7);
const OVERFLOWS = 2 ** 128;

/** Sets a term to a value with an absolute error. A number that leaves the range of the arithmetic is infinite, or may be. */
export function around(term: Term, value: number, error: number): void {
  const blur = error === 0 ? 0 : error + TINY;
  term.value = value;
  term.low = value - blur;
  term.high = value + blur;
  if (term.high > MAY_OVERFLOW || term.low < -MAY_OVERFLOW) overflow(term);
}

function overflow(term: Term): void {
  if (term.low >= OVERFLOWS || term.value === Number.POSITIVE_INFINITY)
    exactly(term, Number.POSITIVE_INFINITY);
  else if (term.high <= -OVERFLOWS || term.value === Number.NEGATIVE_INFINITY)
    exactly(term, Number.NEGATIVE_INFINITY);
  else if (term.high > MAY_OVERFLOW) term.high = Number.POSITIVE_INFINITY;
  else term.low = Number.NEGATIVE_INFINITY;
}

/** A number of a row that the trainer holds in its arithmetic, with its error: infinite, or of unknown size, beyond the range. */
export function inRange(value: number, error: number): readonly [number, number] {
  if (!(value + error > MAY_OVERFLOW)) return [value, error];
  return value - error >= OVERFLOWS ? [Number.POSITIVE_INFINITY, 0] : [value, Number.POSITIVE_INFINITY];
}

/** Sets a term to a known number. */
export function exactly(term: Term, value: number): void {
  term.value = value;
  term.low = value;
  term.high = value;
}

/** Widens a term so that it holds a number: the trainer may have taken the other side of a comparison. */
export function include(term: Term, value: number): void {
  if (value < term.low) term.low = value;
  if (value > term.high) term.high = value;
}

/** The largest distance of the trainer's number from the value. */
export function errorOf({ value, low, high }: Term): number {
  return Math.max(value - low, high - value);
}
