/** Sums of log-ratios over a row, for losses and weights with one ratio per row. */

import { expError, type StepArithmetic, sumError } from './arithmetic.ts';
import type { RowTokens } from './loss.ts';

/** A mean over the kept tokens of a row, and how far the trainer's may be from it. */
export interface RowMean {
  readonly mean: number;
  readonly error: number;
  readonly count: number;
}

/**
 * The mean of `numberOf` over the kept tokens of a row. Each value rounds `roundings` times, the sum as any sum, and the
 * division once. Without kept tokens 0, as trainers divide by max(count, 1).
 */
export function rowMean(
  { start, end, kept }: Pick<RowTokens, 'start' | 'end' | 'kept'>,
  numberOf: (token: number) => number,
  roundings: number,
  arithmetic: StepArithmetic,
): RowMean {
  let sum = 0;
  let size = 0;
  let count = 0;
  for (let token = start; token < end; token++) {
    if (kept !== undefined && kept[token] === 0) continue;
    const value = numberOf(token);
    sum += value;
    size += Math.abs(value);
    count++;
  }
  if (count === 0) return { mean: 0, error: 0, count };
  return { mean: sum / count, error: sumError(count, size, roundings + 1, arithmetic) / count, count };
}

/** exp of a number with an error: relative error of the result. First-order terms and the second-order rest. */
export function expErrorAround(x: number, error: number, arithmetic: StepArithmetic): number {
  return Math.expm1(error) + expError(x, arithmetic) * (1 + Math.expm1(error));
}
