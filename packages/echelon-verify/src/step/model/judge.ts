/** One reported number against the interval of a stage. */

import type { Interval } from '../../arithmetic/interval.ts';
import { TINY } from '../../arithmetic/interval.ts';
import { DISPLAY_TOLERANCE, type RowOutcome } from '../../report/report.ts';

/** Outcomes as numbers, from the best to the worst, for counters over millions of tokens. */
export const CODE = { exact: 0, rounding: 1, unverifiable: 2, wrong: 3 } as const;
/** The outcomes by their code. */
export const OUTCOMES: readonly RowOutcome[] = ['exact', 'rounding', 'unverifiable', 'wrong'];

/**
 * The outcome of a reported number. `size` is the size of the parts of which the value is the sum: a reported number within
 * {@link DISPLAY_TOLERANCE} of it is exact, one that is admitted but farther off is rounding. A number that is not finite has
 * no bounds: the same number is exact, another one unverifiable. A number that is flushed to 0 is admitted.
 */
export function judge(reported: number, term: Interval, size: number): number {
  const { value, low, high } = term;
  if (!Number.isFinite(value) || !Number.isFinite(high - low))
    return Object.is(reported, value) ? CODE.exact : CODE.unverifiable;
  if (!(reported >= low - TINY && reported <= high + TINY)) return CODE.wrong;
  return Math.abs(reported - value) <= DISPLAY_TOLERANCE * size ? CODE.exact : CODE.rounding;
}
