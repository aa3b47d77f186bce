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
