/**
 * What the other algebraic forms of a mean and a deviation can give, of those that libraries use: a mean by
 * multiplication with 1/n or updated value by value, a deviation updated value by value (Welford, Chan) or in one pass
 * from the sums of values and squares. The recipe's own forms (cluster-bounds.ts) lie inside.
 */

import { lowestBitExponent } from './arithmetic.ts';
import type { ClusterBounds } from './cluster-bounds.ts';
import { deviationRoundings, largestPartialSums } from './cluster-bounds.ts';

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
  const of: Spread = {
    n,
    unit: bounds.arithmetic.unit,
    mean: Math.abs(bounds.trueMean[c]!) + error,
    squares: bounds.squares[c]! * (1 + (2 * n + 6) * 2 ** -53),
    largest: bounds.largest[c]!,
    blur: error,
  };
  const summed = summedMeanError(bounds, c, of) + rounding;
  const updated = equal ? 0 : updatedMeanError(of);
  const most = Math.max(summed, updated + shift) * (1 + 1e-9);
  into.size[0] = n;
  into.equal[0] = bounds.equal[c]!;
  into.pinned[0] = 0;
  into.trueMean[0] = bounds.trueMean[c]!;
  into.mean[0] = bounds.trueMean[c]!;
  into.meanError[0] = most;
  into.squares[0] = bounds.squares[c]!;
  into.divisor[0] = bounds.divisor[c]!;
  into.deviation[0] = bounds.deviation[c]!;
  // One pass squares the values themselves, however close together they are.
  const { largest } = reach(of);
  into.overflow[0] = n * largest * largest >= bounds.arithmetic.overflow ? 1 : bounds.overflow[c]!;
  into.inputError[0] = error;
  into.inputShift[0] = shift;
  into.inputSpread[0] = spread;
  const off = Math.max(
    n * most * most,
    equal ? 0 : updatedSquaresError(of, updated),
    equal && isZeroInOnePass(bounds, c, n) ? 0 : onePassSquaresError(of, summed),
  );
  // Differences of equal values are 0: nothing underflows.
  if (equal && off === 0) into.deviationLow[0] = into.deviationHigh[0] = 0;
  else boundDeviation(of, off, spread, into);
}

/** The deviation of a sum of squares that is off by `off`, of values that are off by `spread` in the root mean square. */
function boundDeviation(of: Spread, off: number, spread: number, into: ClusterBounds): void {
  const { n, squares, unit } = of;
  const divisor = into.divisor[0]!;
  const relative = deviationRoundings(n + 4, unit);
  const blur = spread * Math.sqrt(n / divisor) * (1 + 1e-9) + Math.sqrt(n) * 2 ** -74;
  const low = Math.sqrt(Math.max(0, squares * (1 - (4 * n + 12) * 2 ** -53) - off) / divisor);
  into.deviationLow[0] = Math.max(0, low * (1 - relative) - blur);
  into.deviationHigh[0] = Math.sqrt((squares + off) / divisor) * (1 + relative) + blur;
}

/** A cluster as its bounds see it; `blur` is what is not known of its values. */
interface Spread {
  readonly n: number;
  readonly unit: number;
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
  const { unit, mean } = of;
  if (mean === 0 && bounds.squares[c] === 0) return 0;
  if (bounds.pinned[c] === 1 && of.blur === 0 && bounds.arithmetic.name === 'float32') {
    const off = (computed: number): number => Math.abs(computed - bounds.trueMean[c]!);
    return Math.max(off(bounds.mean[c]!), off(byReciprocal(bounds.trueMean[c]!, of.n)));
  }
  return (bounds.meanError[c]! + 2.01 * unit * mean) * (1 + 3 * unit) + 2 ** -148;
}

/** A float32 mean whose sum is exact, by multiplication with the rounded 1/n. */
function byReciprocal(mean: number, n: number): number {
  return Math.fround(Math.fround(n * mean) * Math.fround(1 / n));
}

/**
 * True if one pass over n equal values gives 0 in every form: no sum, square of a sum or mean of x or x² rounds. Rewards of
 * 0 and 1 are such values, if the reciprocal of n does no harm.
 */
function isZeroInOnePass({ arithmetic, pinned, trueMean }: ClusterBounds, c: number, n: number): boolean {
  const x = trueMean[c]!;
  if (arithmetic.name !== 'float32' || pinned[c] !== 1) return false;
  const isExact = n * n * x * x < 2 ** (arithmetic.digits + lowestBitExponent(x * x));
  return isExact && byReciprocal(x, n) === x && byReciprocal(x * x, n) === x * x;
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
 * most u (M + 4 R) n (n + 1)/2.
 */
function updatedMeanError(of: Spread): number {
  const { n, unit } = of;
  const { largest, range } = reach(of);
  return unit * (largest + 4 * range) * ((n + 1) / 2) * (1 + 4 * n * unit);
}

/**
 * A sum of squares that is updated by (x_k - m_(k-1))(x_k - m_k), or joined by d^2 n_a n_b/n with d = m_b - m_a. The
 * exact steps add up to Q. With means off by e at most, a step is off by (4 |d| e + 4 e^2) n_a n_b/n and its own
 * roundings, 6 u of it; by Cauchy's inequality the steps' |d| n_a n_b/n add up to sqrt(Q W) at most, W the sum of
 * n_a n_b/n <= min(n_a, n_b), which over any tree is at most n (1 + log2 n). The n additions round by n u Q.
 */
function updatedSquaresError({ n, unit, squares }: Spread, e: number): number {
  const w = n * (1 + Math.log2(Math.max(1, n)));
  return (4 * e * Math.sqrt(squares * w) + 4 * e * e * w + (n + 8) * unit * squares) * (1 + 4 * n * unit);
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
  const partial = largestPartialSums(n, largest * largest, total) * (1 + 2 * n * unit);
  return 1.01 * (unit * (partial + 6 * total + 6 * n * mean * mean) + n * (2 * mean * e + e * e));
}
