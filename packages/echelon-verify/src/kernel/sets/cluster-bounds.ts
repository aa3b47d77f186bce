/**
 * What float32 (or float64) arithmetic can make of the mean and the deviation of a cluster, in any order of
 * summation. The derivation is in docs/explanation/error-bounds.md; the names below are those of its formulas.
 */

import type { Arithmetic } from '../../arithmetic/arithmetic.ts';
import { FLOAT64, lowestBitExponent } from '../../arithmetic/arithmetic.ts';
import type { Deviation } from './spread.ts';

/** One entry per cluster. All numbers are in the unit of the values (or its square, for `squares`). */
export interface ClusterBounds {
  readonly arithmetic: Arithmetic;
  readonly size: Int32Array;
  /** The mean in float64: the true one. */
  readonly trueMean: Float64Array;
  /** The mean in float64; if `pinned`, the mean as the trainer's arithmetic gives it. */
  readonly mean: Float64Array;
  /** Half width of the interval of the computed mean; 0 if `pinned`. */
  readonly meanError: Float64Array;
  /** 1 if every order of summation gives the same mean. */
  readonly pinned: Uint8Array;
  /** 1 if all members are equal. */
  readonly equal: Uint8Array;
  /** Sum of squares about the true mean. */
  readonly squares: Float64Array;
  /** The true deviation. */
  readonly deviation: Float64Array;
  readonly deviationLow: Float64Array;
  readonly deviationHigh: Float64Array;
  /** Divisor of the variance, at least 1. */
  readonly divisor: Float64Array;
  /** 1 if an intermediate result may leave the format's range. */
  readonly overflow: Uint8Array;
  /** The largest error of a member's value. */
  readonly inputError: Float64Array;
  /** The largest size of a member's value. */
  readonly largest: Float64Array;
  /** The mean of the members' errors: as far as they can move the mean. */
  readonly inputShift: Float64Array;
  /** The root mean square of the members' errors: as far as they can move the population deviation. */
  readonly inputSpread: Float64Array;
  /** The largest distance of a member's value to the number that the file states; absent if all are the same. */
  readonly rounding?: Float64Array | undefined;
}

export interface ClusterInput {
  /** Cluster of each row, -1 if the row has none. */
  readonly cluster: Int32Array;
  readonly count: number;
  readonly value: Float64Array;
  /** Half width of what is known of each value; absent if the values are exact inputs. */
  readonly valueError?: Float64Array | undefined;
  /** Distance of each value to the number that the file states; absent if all are the same. */
  readonly rounding?: Float64Array | undefined;
}

/** Bounds for every cluster of one level. Linear in the rows. */
export function clusterBounds(
  input: ClusterInput,
  deviation: Deviation,
  arithmetic: Arithmetic,
): ClusterBounds {
  const { bounds, fill } = lazyClusterBounds(input, deviation, arithmetic);
  for (let c = 0; c < input.count; c++) fill(c);
  return bounds;
}

/** Bounds whose clusters are bounded one by one, once a row needs them: most rows are right to the last digit. */
export interface LazyClusterBounds {
  /** `size`, `equal`, `trueMean`, `squares`, `divisor` and `deviation` are there; the rest of an entry after `fill`. */
  readonly bounds: ClusterBounds;
  /** Fills the entries of a cluster. */
  fill(c: number): void;
}

/** Sizes, true means and true deviations of the clusters, and what fills in their bounds. Linear in the rows. */
export function lazyClusterBounds(
  input: ClusterInput,
  deviation: Deviation,
  arithmetic: Arithmetic,
): LazyClusterBounds {
  const { count, valueError, rounding } = input;
  const rounded = rounding && { rounding: new Float64Array(count) };
  const bounds = { ...boundsOf(count, arithmetic, valueError !== undefined), ...rounded };
  averageClusters(input, bounds);
  measureClusters(input, bounds, deviation);
  const filled = new Uint8Array(count);
  let members: MemberLists | undefined;
  return {
    bounds,
    fill(c) {
      if (filled[c] === 1) return;
      filled[c] = 1;
      members ??= memberLists(input);
      const sums = sumUp(c, input, members);
      bounds.largest[c] = sums.largest;
      if (valueError !== undefined) averageErrors(c, sums, bounds, arithmetic.unit);
      if (bounds.rounding !== undefined) bounds.rounding[c] = sums.rounding;
      boundMean(c, sums, bounds);
      boundDeviation(c, bounds, referenceError(sums));
    },
  };
}

function averageClusters(
  { cluster, value }: ClusterInput,
  { size, equal, trueMean, mean }: ClusterBounds,
): void {
  equal.fill(1);
  // Until the bounds are filled in, `mean` holds the first value.
  for (let row = 0; row < cluster.length; row++) {
    const c = cluster[row]!;
    if (c < 0) continue;
    const x = value[row]!;
    if (size[c]!++ === 0) mean[c] = x;
    else if (mean[c] !== x) equal[c] = 0;
    trueMean[c]! += x;
  }
  for (let c = 0; c < size.length; c++) trueMean[c] = equal[c] === 1 ? mean[c]! : trueMean[c]! / size[c]!;
}

function measureClusters({ cluster, value }: ClusterInput, bounds: ClusterBounds, kind: Deviation): void {
  const { size, equal, trueMean, squares, divisor, deviation } = bounds;
  for (let row = 0; row < cluster.length; row++) {
    const c = cluster[row]!;
    if (c < 0 || equal[c] === 1) continue;
    const d = value[row]! - trueMean[c]!;
    squares[c]! += d * d;
  }
  for (let c = 0; c < size.length; c++) {
    const n = size[c]!;
    divisor[c] = kind === 'population' ? n : Math.max(1, n - 1);
    deviation[c] = Math.sqrt(squares[c]! / divisor[c]!);
  }
}

/** The rows of each cluster, in their order: the first of cluster c is `head[c]`, the one after row r is `next[r]`, -1 ends. */
interface MemberLists {
  readonly head: Int32Array;
  readonly next: Int32Array;
}

function memberLists({ cluster, count }: ClusterInput): MemberLists {
  const head = new Int32Array(count).fill(-1);
  const next = new Int32Array(cluster.length);
  for (let row = cluster.length - 1; row >= 0; row--) {
    const c = cluster[row]!;
    if (c < 0) continue;
    next[row] = head[c]!;
    head[c] = row;
  }
  return { head, next };
}

/** Sums over the members of one cluster. */
interface Sums {
  readonly size: number;
  readonly sum: number;
  readonly absolute: number;
  readonly largest: number;
  readonly nonZero: number;
  readonly lattice: number;
  readonly first: number;
  readonly equal: boolean;
  readonly error: number;
  readonly errorSum: number;
  readonly errorSquares: number;
  readonly rounding: number;
}

function sumUp(c: number, { value, valueError, rounding }: ClusterInput, { head, next }: MemberLists): Sums {
  const first = head[c]! < 0 ? 0 : value[head[c]!]!;
  let [size, sum, absolute, largest, nonZero] = [0, 0, 0, 0, 0];
  let [error, errorSum, errorSquares, mostRounding] = [0, 0, 0, 0];
  let lattice = Number.POSITIVE_INFINITY;
  let equal = true;
  for (let row = head[c]!; row >= 0; row = next[row]!) {
    const x = value[row]!;
    const own = Math.abs(x);
    // NaN differs from itself, but one value is equal to nothing else.
    if (size > 0 && x !== first) equal = false;
    size += 1;
    sum += x;
    absolute += own;
    if (!(own <= largest)) largest = own;
    if (x !== 0) nonZero += 1;
    const bit = lowestBitExponent(x);
    if (bit < lattice) lattice = bit;
    if (rounding !== undefined && rounding[row]! > mostRounding) mostRounding = rounding[row]!;
    if (valueError === undefined) continue;
    const off = valueError[row]!;
    if (off > error) error = off;
    errorSum += off;
    errorSquares += off * off;
  }
  const values = { size, sum, absolute, largest, nonZero, lattice, first, equal };
  return { ...values, error, errorSum, errorSquares, rounding: mostRounding };
}

/**
 * The trainer sums the values that it has, so their errors enter the roundings of its sums too: by at most 4 n u of the
 * largest. The rest of the margin is for the sums here, which round.
 */
function averageErrors(
  c: number,
  { size: n, error, errorSum, errorSquares }: Sums,
  { inputError, inputShift, inputSpread }: ClusterBounds,
  unit: number,
): void {
  inputError[c] = error;
  if (n === 0) return;
  const margin = 1 + (n + 4) * FLOAT64.unit;
  const carried = 4 * n * unit * error;
  inputShift[c] = (errorSum / n) * margin + carried;
  inputSpread[c] = Math.sqrt(errorSquares / n) * margin + carried;
}

/** Bounds of `count` clusters, to be filled. */
export function emptyBounds(count: number, arithmetic: Arithmetic): ClusterBounds {
  return boundsOf(count, arithmetic, true);
}

/** Without errors of the inputs, their columns are one column of zeros. */
function boundsOf(count: number, arithmetic: Arithmetic, hasErrors: boolean): ClusterBounds {
  const column = (): Float64Array => new Float64Array(count);
  const none = column();
  return {
    arithmetic,
    size: new Int32Array(count),
    trueMean: column(),
    mean: column(),
    meanError: column(),
    pinned: new Uint8Array(count),
    equal: new Uint8Array(count),
    squares: column(),
    deviation: column(),
    deviationLow: column(),
    deviationHigh: column(),
    divisor: column(),
    overflow: new Uint8Array(count),
    inputError: none,
    largest: column(),
    inputShift: hasErrors ? column() : none,
    inputSpread: hasErrors ? column() : none,
  };
}

function boundMean(c: number, sums: Sums, bounds: ClusterBounds): void {
  const { unit, overflow } = bounds.arithmetic;
  bounds.overflow[c] = sums.absolute >= overflow ? 1 : 0;
  bounds.mean[c] = bounds.trueMean[c]!;
  if (sums.error === 0 && sumIsExact(sums, bounds.arithmetic)) {
    bounds.pinned[c] = 1;
    bounds.mean[c] = bounds.arithmetic.round(bounds.mean[c]!);
    return;
  }
  const own = roundedMeanError(sums, unit);
  bounds.meanError[c] =
    (own + bounds.inputShift[c]!) * (1 + 1e-9) + referenceError(sums) + bounds.arithmetic.tiny;
}

/** What a sum in any order and a division can make of the mean, in an arithmetic of unit roundoff `unit`. */
function roundedMeanError({ size, nonZero, largest, absolute, sum }: Sums, unit: number): number {
  const own = sumError(nonZero, largest, absolute, unit);
  return (own * (1 + unit)) / size + (unit * Math.abs(sum)) / size;
}

/**
 * How far the reference itself is off: `trueMean` is a float64 sum, from the first row to the last, and a division, so
 * the bound of any evaluation holds for it with u = 2^-53. The computed mean m' and the reference m" lie around the mean
 * m, so |m' - m"| <= |m' - m| + |m" - m|. Against float32 this is nothing; against float64 it doubles the bound. Equal
 * values are their own mean. The last term is for the difference of two float64 numbers near m.
 */
function referenceError(sums: Sums): number {
  const own = 2 ** -52 * (Math.abs(sums.sum) / sums.size);
  return sums.equal ? own : roundedMeanError(sums, FLOAT64.unit) + own;
}

/**
 * True if every partial sum, in any order, is a number of the format: then no addition rounds. Holds if all
 * values are multiples of 2^e and the sum of their sizes is at most 2^(e + digits); and, for equal values x, if
 * each j * x is one.
 */
function sumIsExact({ lattice, absolute, equal, first, size }: Sums, { digits, round }: Arithmetic): boolean {
  if (lattice === Number.POSITIVE_INFINITY) return true;
  if (absolute < 2 ** (digits + lattice)) return true;
  if (!equal || digits === FLOAT64.digits) return false;
  for (let j = 1; j <= size; j++) if (round(j * first) !== j * first) return false;
  return true;
}

/**
 * How far a rounded sum of n values, the largest of size M and their sizes adding up to T, may be from the exact one, in
 * any order. Each addition rounds by u of its partial sum; rounded partial sums are at most (1 + u)^n times the exact
 * ones. If n u is not small, the bound (n - 1) u T is closer: it holds for every n and order (Jeannerod and Rump, 2013).
 */
export function sumError(n: number, largest: number, total: number, unit: number): number {
  const partial = largestPartialSums(n, largest, total);
  return unit * Math.min(Math.exp(n * unit) * partial, Math.max(0, n - 1) * total);
}

/**
 * Upper bound of the sum of |partial sum| over the additions of any order of n values, the largest of size M, their
 * sizes adding up to T: the sum over j = 2..n of min(j M, T).
 */
export function largestPartialSums(n: number, largest: number, total: number): number {
  if (n < 2 || largest === 0) return 0;
  const rising = Math.min(n, Math.floor(total / largest));
  return largest * ((rising * (rising + 1)) / 2 - 1) + total * (n - rising);
}

/**
 * Squares about another centre than the mean grow by n t^2, t the distance. The trainer's centre lies within
 * `meanError` of the mean, or is the pinned one; one that takes the deviation in higher precision has the mean.
 *
 * The reference is rounded too. With m" at most r from the mean m, the exact sum about m" is Q + n r^2; the float64
 * evaluation rounds differences, squares and a sum of n terms by a relative (n + 3) 2^-53. So the computed Q" gives
 * Q"(1 - (n + 3) 2^-53) - n r^2 <= Q <= Q"(1 + (n + 3) 2^-53), and the trainer's centre lies within t + r of m.
 */
function boundDeviation(c: number, bounds: ClusterBounds, reference: number): void {
  const { unit, overflow, tiny } = bounds.arithmetic;
  const n = bounds.size[c]!;
  const divisor = bounds.divisor[c]!;
  const r = bounds.equal[c] === 1 ? 0 : reference;
  const t =
    r + (bounds.pinned[c] === 1 ? Math.abs(bounds.mean[c]! - bounds.trueMean[c]!) : bounds.meanError[c]!);
  const own = (n + 3) * FLOAT64.unit;
  const least = Math.max(0, bounds.squares[c]! * (1 - own) - n * r * r);
  const most = bounds.squares[c]! * (1 + own) + n * t * t * (1 + 1e-9);
  const relative = deviationRoundings(n, unit);
  const spread = bounds.inputSpread[c]! * Math.sqrt(n / divisor) * (1 + relative + 1e-9);
  const blur = spread + Math.sqrt(n * tiny);
  bounds.deviationLow[c] = Math.max(0, Math.sqrt(least / divisor) * (1 - relative) - blur);
  bounds.deviationHigh[c] = Math.sqrt(most / divisor) * (1 + relative) + blur;
  if (most >= overflow) bounds.overflow[c] = 1;
}

/** Relative error of differences, squares, a sum of n of them, a division and a root. */
export function deviationRoundings(n: number, unit: number): number {
  return (n / 2 + 5) * unit * (1 + n * unit);
}
