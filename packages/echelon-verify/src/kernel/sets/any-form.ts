/**
 * What the other algebraic forms of a mean and a deviation can give, of those that libraries use: a mean by
 * multiplication with 1/n or updated value by value, a deviation updated value by value (Welford, Chan) or in one pass
 * from the sums of values and squares. The recipe's own forms (cluster-bounds.ts) lie inside.
 */

import { type Arithmetic, FLOAT32, FLOAT64, lowestBitExponent } from '../../arithmetic/arithmetic.ts';
import type { ClusterBounds } from './cluster-bounds.ts';
import { deviationRoundings, sumError } from './cluster-bounds.ts';

/**
 * Fills entry 0 of `into` with the bounds of cluster `c`, in any form. Everything follows from n, m, Q and the largest value
 * M, which is at most |m| + sqrt(Q): the range R <= min(2 M, sqrt(2 Q)), and the sum of squares T = Q + n m^2.
 */
export function boundAnyForm(bounds: ClusterBounds, c: number, into: ClusterBounds): void {
  const n = bounds.size[c]!;
  const rounding = bounds.rounding?.[c] ?? 0;
  const error = bounds.inputError[c]! + rounding;
  const shift = bounds.inputShift[c]! + rounding;
  const spread = bounds.inputSpread[c]! + rounding;
  const equal = bounds.equal[c]! === 1 && error === 0;
  const squares = bounds.squares[c]! * (1 + (2 * n + 6) * 2 ** -53);
  const of: Spread = {
    n,
    unit: bounds.arithmetic.unit,
    tiny: bounds.arithmetic.tiny,
    mean: Math.abs(bounds.trueMean[c]!) + error,
    squares: (Math.sqrt(squares) + Math.sqrt(n) * error) ** 2,
    largest: bounds.largest[c]!,
    blur: error,
  };
  const summed = summedMeanError(bounds, c, of) + rounding;
  const isUpdated = !equal && canUpdate(of);
  const updated = isUpdated ? updatedMeanError(of) : 0;
  const most = Math.max(summed, updated + shift) * (1 + 1e-9);
  into.size[0] = n;
  into.equal[0] = bounds.equal[c]!;
  into.pinned[0] = 0;
  into.mean[0] = into.trueMean[0] = bounds.trueMean[c]!;
  into.meanError[0] = most;
  into.squares[0] = bounds.squares[c]!;
  into.divisor[0] = bounds.divisor[c]!;
  into.deviation[0] = bounds.deviation[c]!;
  // One pass squares the values themselves, however close together they are.
  const { largest } = reach(of);
  const isUnknown = n * largest * largest >= bounds.arithmetic.overflow || (!equal && !isUpdated);
  into.overflow[0] = isUnknown ? 1 : bounds.overflow[c]!;
  into.inputError[0] = error;
  into.inputShift[0] = shift;
  into.inputSpread[0] = spread;
  const off = Math.max(
    n * most * most,
    isUpdated ? updatedSquaresError(of, updated) : 0,
    equal && isZeroInOnePass(bounds, c, n) ? 0 : onePassSquaresError(of, summed),
  );
  // Differences of equal values are 0: nothing underflows.
  if (equal && off === 0) into.deviationLow[0] = into.deviationHigh[0] = 0;
  else boundDeviation(squares, off, spread, into);
}

/** The deviation of a sum of squares that is off by `off`, of values that are off by `spread` in the root mean square. */
function boundDeviation(squares: number, off: number, spread: number, into: ClusterBounds): void {
  const { unit, tiny } = into.arithmetic;
  const n = into.size[0]!;
  const divisor = into.divisor[0]!;
  const relative = deviationRoundings(n + 4, unit);
  const blur = spread * Math.sqrt(n / divisor) * (1 + relative + 1e-9) + Math.sqrt(n * tiny);
  const low = Math.sqrt(Math.max(0, squares * (1 - (4 * n + 12) * 2 ** -53) - off) / divisor);
  into.deviationLow[0] = Math.max(0, low * (1 - relative) - blur);
  into.deviationHigh[0] = Math.sqrt((squares + off) / divisor) * (1 + relative) + blur;
}

/** A cluster as its bounds see it; `blur` is what is not known of its values. */
interface Spread {
  readonly n: number;
  readonly unit: number;
  /** See {@link Arithmetic.tiny}. */
  readonly tiny: number;
  /** Size of the mean. */
  readonly mean: number;
  /** Sum of squares about the mean, at most. */
  readonly squares: number;
  /** The largest size of a value. */
  readonly largest: number;
  readonly blur: number;
}

/**
 * A sum in any order, divided by n or multiplied with the rounded 1/n: two roundings instead of one. A sum that no order
 * rounds gives exactly these two means.
 */
function summedMeanError(bounds: ClusterBounds, c: number, of: Spread): number {
  const { n, unit, mean } = of;
  const { arithmetic, trueMean } = bounds;
  if (mean === 0 && bounds.squares[c] === 0) return 0;
  const isExact = bounds.pinned[c] === 1 && of.blur === 0 && arithmetic.digits < FLOAT64.digits;
  if (isExact && isNumberOf(arithmetic, n)) {
    const exact = trueMean[c]!;
    return Math.max(...meansOfExactSum(exact, n, arithmetic).map((computed) => Math.abs(computed - exact)));
  }
  const divisions = isNumberOf(arithmetic, n) ? 2 : 3;
  return (bounds.meanError[c]! + 1.01 * divisions * unit * mean) * (1 + 3 * unit) + arithmetic.tiny;
}

/** True if n has no rounding of its own. */
function isNumberOf({ digits }: Arithmetic, n: number): boolean {
  return n <= 2 ** digits;
}

/**
 * The computed means of n values whose sum is exact: the sum by n, or times the rounded 1/n. A trainer that computes in
 * bfloat16 may take each step in float32, and round its result again.
 */
function meansOfExactSum(mean: number, n: number, arithmetic: Arithmetic): number[] {
  const formats = arithmetic.digits < FLOAT32.digits ? [arithmetic, FLOAT32] : [arithmetic];
  const sum = arithmetic.round(n * mean);
  const quotients = [mean, ...formats.map(({ round }) => sum * round(1 / n))];
  const rounded = quotients.flatMap((x) => formats.map(({ round }) => round(x)));
  return rounded.flatMap((x) => formats.map(({ round }) => round(x)));
}

/**
 * True if one pass over n equal values gives 0 in every form: no sum, square of a sum or mean of x or x² rounds. Rewards of
 * 0 and 1 are such values, if the reciprocal of n does no harm.
 */
function isZeroInOnePass({ arithmetic, pinned, trueMean }: ClusterBounds, c: number, n: number): boolean {
  const x = trueMean[c]!;
  if (arithmetic.digits === FLOAT64.digits || pinned[c] !== 1) return false;
  const isExact = n * n * x * x < 2 ** (arithmetic.digits + lowestBitExponent(x * x));
  const isGivenBack = (mean: number) => meansOfExactSum(mean, n, arithmetic).every((one) => one === mean);
  return isExact && isGivenBack(x) && isGivenBack(x * x);
}

/** The largest size of a value, and the largest distance of two. */
function reach({ mean, squares, largest, blur }: Spread): { largest: number; range: number } {
  return {
    largest: Math.min(mean + Math.sqrt(squares), largest) + blur,
    range: Math.min(Math.sqrt(2 * squares), 2 * largest) + 2 * blur,
  };
}

/**
 * A mean that is updated, m_k = m_(k-1) + (x_k - m_(k-1))/k, or joined from two parts, m = m_a + (m_b - m_a) n_b/n.
 * A step rounds by u M for its result and 4 u R n_b/n for the difference, the quotient or reciprocal, the product; what
 * the parts carry comes in by their shares. So n e_n <= n_a e_a + n_b e_b + n u M + 4 u R n_b, over any tree of steps at
 * most u (M + 4 R) n (n + 1)/2. The computed M and R are larger than the exact ones by e and 2 e: `grown` solves for e. Quotient and
 * product may also fall below the smallest number, once in each step.
 */
function updatedMeanError(of: Spread): number {
  const { n, unit, tiny } = of;
  const { largest, range } = reach(of);
  return (unit * (largest + 4 * range) + tiny) * ((n + 1) / 2) * grown(of);
}

/** Steps that may each lose u of what they carry: the factor on their bound of first order. */
function grown({ n, unit }: Spread): number {
  return 1 / (1 - 5 * (n + 1) * unit);
}

/** False if so many updates in an arithmetic of so few digits may lose all of them: in bfloat16 from 51 values on. */
function canUpdate({ n, unit }: Spread): boolean {
  return 5 * (n + 1) * unit < 1;
}

/**
 * A sum of squares that is updated by (x_k - m_(k-1))(x_k - m_k), or joined by d^2 n_a n_b/n with d = m_b - m_a. The
 * exact steps add up to Q. With means off by e at most, a step is off by (4 |d| e + 4 e^2) n_a n_b/n and its own
 * roundings, 6 u of it; by Cauchy's inequality the steps' |d| n_a n_b/n add up to sqrt(Q W) at most, W the sum of
 * n_a n_b/n <= min(n_a, n_b), which over any tree is at most n (1 + log2 n). The n additions round by n u Q.
 */
function updatedSquaresError(of: Spread, e: number): number {
  const { n, unit, squares } = of;
  const w = n * (1 + Math.log2(Math.max(1, n)));
  return (4 * e * Math.sqrt(squares * w) + 4 * e * e * w + (n + 8) * unit * squares) * grown(of);
}

/**
 * One pass: sum of x^2 less n m^2 (or S^2/n, or both divided by n). The squares round by u T, their sum as any sum, and
 * the square of a mean that is off by e by n (2 |m| e + e^2); products, quotients and the difference by 6 u of T and of
 * n m^2. A negative difference is taken as 0, as libraries do.
 */
function onePassSquaresError(of: Spread, e: number): number {
  const { n, unit, mean, squares } = of;
  const total = squares + n * mean * mean;
  const { largest } = reach(of);
  const summed = sumError(n, largest * largest, total, unit);
  const products = 6 * unit * (total + n * mean * mean);
  return (1.01 + 8 * unit) * (summed + products + n * (2 * mean * e + e * e));
}
