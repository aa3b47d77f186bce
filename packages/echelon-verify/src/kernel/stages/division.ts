/** Quotients of a stage that divides, with what may keep it from dividing. */

import { blurOf, type IntervalColumn, put } from '../../arithmetic/interval.ts';
import type { Chain } from './stage.ts';

/** Divide only if the divisor (before ε) is above a threshold; otherwise keep the value, or give 0. */
export interface Guard {
  readonly above: number;
  readonly otherwise: 'keep' | 'zero';
}

/** Divisors before ε, and with it. */
export interface Divisors {
  readonly bare: IntervalColumn;
  readonly whole: IntervalColumn;
}

/** ε, the sum, the root or reciprocal root, the product: 8 u in any form, against the size of the quotient. */
const DIVISION_ROUNDINGS = 8.1;

/** Writes x over the divisor at an entry. Under a guard: what the guard may give and what the division may give, together. */
export function divider(
  { arithmetic, overflow, isExact }: Chain,
  x: IntervalColumn,
  { bare, whole }: Divisors,
  guard: Guard | undefined,
): (out: IntervalColumn, row: number, at: number) => void {
  /** Writes the ends of a quotient. */
  const putEnds = (out: IntervalColumn, row: number, at: number): void => {
    const [low, high] = [x.low[row]!, x.high[row]!];
    const [least, most] = [whole.low[at]!, whole.high[at]!];
    if (low === 0 && high === 0) out.low[row] = out.high[row] = 0;
    // A divisor that may be 0 says nothing of the quotient.
    else if (!(least * most > 0)) {
      overflow[row] = 1;
      out.low[row] = Number.NEGATIVE_INFINITY;
      out.high[row] = Number.POSITIVE_INFINITY;
    } else {
      const [a, b, c, d] = [low / least, low / most, high / least, high / most];
      const [first, last] = [Math.min(a, b, c, d), Math.max(a, b, c, d)];
      const blur = blurOf(first, last, DIVISION_ROUNDINGS, arithmetic);
      out.low[row] = first - blur;
      out.high[row] = last + blur;
    }
  };
  return (out, row, at) => {
    const value = x.value[row]!;
    const quotient = value === 0 ? 0 : value / whole.value[at]!;
    const isGuarded = guard !== undefined && !(bare.value[at]! > guard.above);
    if (isExact) {
      // Estimates need no ends, which take most of the time.
      if (!isGuarded) out.value[row] = quotient;
      else out.value[row] = guard.otherwise === 'keep' ? value : 0 * value;
      return;
    }
    if (guard === undefined) {
      putEnds(out, row, at);
      put(out, row, quotient, out.low[row]!, out.high[row]!);
      return;
    }
    const kept = guard.otherwise === 'keep' ? 1 : 0;
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    if (bare.high[at]! > guard.above) {
      putEnds(out, row, at);
      low = out.low[row]!;
      high = out.high[row]!;
    }
    if (bare.low[at]! <= guard.above) {
      low = Math.min(low, kept * x.low[row]!, kept * x.high[row]!);
      high = Math.max(high, kept * x.low[row]!, kept * x.high[row]!);
    }
    put(out, row, isGuarded ? kept * value : quotient, low, high);
  };
}
