/**
 * What float32 (or float64) arithmetic can make of the mean and the deviation of a cluster, in any order of
 * summation. The derivation is in docs/explanation/verification.md; the names below are those of its formulas.
 */

import type { Deviation } from '../../kernel/spread.ts';
import type { Arithmetic } from './arithmetic.ts';
import { FLOAT64, lowestBitExponent } from './arithmetic.ts';

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
  const sums = sumUp(input);
  const { error: inputError, largest, rounding } = sums;
  const bounds = { ...emptyBounds(input.count, arithmetic), inputError, largest, rounding };
  for (let c = 0; c < input.count; c++) averageErrors(c, sums, bounds, arithmetic.unit);
  for (let c = 0; c < input.count; c++) boundMean(c, sums, bounds);
  sumSquares(input, bounds);
  for (let c = 0; c < input.count; c++) boundDeviation(c, bounds, deviation, referenceError(c, sums));
  return bounds;
}

interface Sums {
  readonly size: Int32Array;
  readonly sum: Float64Array;
  readonly absolute: Float64Array;
  readonly largest: Float64Array;
  readonly nonZero: Int32Array;
  readonly lattice: Float64Array;
  readonly first: Float64Array;
  readonly equal: Uint8Array;
  readonly error: Float64Array;
  readonly errorSum: Float64Array;
  readonly errorSquares: Float64Array;
  readonly rounding: Float64Array | undefined;
}

function sumUp({ cluster, count, value, valueError, rounding }: ClusterInput): Sums {
  const sums: Sums = {
    size: new Int32Array(count),
    sum: new Float64Array(count),
    absolute: new Float64Array(count),
    largest: new Float64Array(count),
    nonZero: new Int32Array(count),
    lattice: new Float64Array(count).fill(Number.POSITIVE_INFINITY),
    first: new Float64Array(count),
    equal: new Uint8Array(count).fill(1),
    error: new Float64Array(count),
    errorSum: new Float64Array(count),
    errorSquares: new Float64Array(count),
    rounding: rounding && new Float64Array(count),
  };
  for (let row = 0; row < cluster.length; row++) {
    const c = cluster[row]!;
    if (c < 0) continue;
    const x = value[row]!;
    const size = Math.abs(x);
    if (sums.size[c]! === 0) sums.first[c] = x;
    else if (sums.first[c] !== x) sums.equal[c] = 0;
    sums.size[c]! += 1;
    sums.sum[c]! += x;
    sums.absolute[c]! += size;
    if (!(size <= sums.largest[c]!)) sums.largest[c] = size;
    if (x !== 0) sums.nonZero[c]! += 1;
    const bit = lowestBitExponent(x);
    if (bit < sums.lattice[c]!) sums.lattice[c] = bit;
    if (valueError !== undefined) addError(sums, c, valueError[row]!);
    if (sums.rounding !== undefined && rounding![row]! > sums.rounding[c]!)
      sums.rounding[c] = rounding![row]!;
  }
  return sums;
}

function addError({ error, errorSum, errorSquares }: Sums, c: number, own: number): void {
  if (own > error[c]!) error[c] = own;
  errorSum[c]! += own;
  errorSquares[c]! += own * own;
}

/**
 * The trainer sums the values that it has, so their errors enter the roundings of its sums too: by at most 4 n u of the
 * largest. The rest of the margin is for the sums here, which round.
 */
function averageErrors(
  c: number,
  sums: Sums,
  { inputShift, inputSpread }: ClusterBounds,
  unit: number,
): void {
  const n = sums.size[c]!;
  if (n === 0) return;
  const margin = 1 + (n + 4) * FLOAT64.unit;
  const carried = 4 * n * unit * sums.error[c]!;
  inputShift[c] = (sums.errorSum[c]! / n) * margin + carried;
  inputSpread[c] = Math.sqrt(sums.errorSquares[c]! / n) * margin + carried;
}

/** Bounds of `count` clusters, to be filled. */
export function emptyBounds(count: number, arithmetic: Arithmetic): ClusterBounds {
  const column = (): Float64Array => new Float64Array(count);
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
    inputError: column(),
    largest: column(),
    inputShift: column(),
    inputSpread: column(),
  };
}

function boundMean(c: number, sums: Sums, bounds: ClusterBounds): void {
  const { unit, overflow } = bounds.arithmetic;
  const size = sums.size[c]!;
  const sum = sums.sum[c]!;
  bounds.size[c] = size;
  bounds.equal[c] = sums.equal[c]!;
  bounds.overflow[c] = sums.absolute[c]! >= overflow ? 1 : 0;
  bounds.trueMean[c] = sums.equal[c] === 1 ? sums.first[c]! : sum / size;
  bounds.mean[c] = bounds.trueMean[c]!;
  if (sums.error[c]! === 0 && sumIsExact(c, sums, bounds.arithmetic)) {
    bounds.pinned[c] = 1;
    bounds.mean[c] = bounds.arithmetic.round(bounds.mean[c]!);
    return;
  }
  const own = roundedMeanError(c, sums, unit);
  bounds.meanError[c] =
    (own + bounds.inputShift[c]!) * (1 + 1e-9) + referenceError(c, sums) + bounds.arithmetic.tiny;
}

/** What a sum in any order and a division can make of the mean, in an arithmetic of unit roundoff `unit`. */
function roundedMeanError(c: number, sums: Sums, unit: number): number {
  const size = sums.size[c]!;
  const own = sumError(sums.nonZero[c]!, sums.largest[c]!, sums.absolute[c]!, unit);
  return (own * (1 + unit)) / size + (unit * Math.abs(sums.sum[c]!)) / size;
}

/**
 * How far the reference itself is off: `trueMean` is a float64 sum, from the first row to the last, and a division, so
 * the bound of any evaluation holds for it with u = 2^-53. The computed mean m' and the reference m" lie around the mean
 * m, so |m' - m"| <= |m' - m| + |m" - m|. Against float32 this is nothing; against float64 it doubles the bound. Equal
 * values are their own mean. The last term is for the difference of two float64 numbers near m.
 */
function referenceError(c: number, sums: Sums): number {
  const own = 2 ** -52 * (Math.abs(sums.sum[c]!) / sums.size[c]!);
  return sums.equal[c] === 1 ? own : roundedMeanError(c, sums, FLOAT64.unit) + own;
}

/**
 * True if every partial sum, in any order, is a number of the format: then no addition rounds. Holds if all
 * values are multiples of 2^e and the sum of their sizes is at most 2^(e + digits); and, for equal values x, if
 * each j * x is one.
 */
function sumIsExact(c: number, sums: Sums, { digits, round }: Arithmetic): boolean {
  const lattice = sums.lattice[c]!;
  if (lattice === Number.POSITIVE_INFINITY) return true;
  if (sums.absolute[c]! < 2 ** (digits + lattice)) return true;
  if (sums.equal[c] !== 1 || digits === FLOAT64.digits) return false;
  const x = sums.first[c]!;
  for (let j = 1; j <= sums.size[c]!; j++) if (round(j * x) !== j * x) return false;
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

function sumSquares({ cluster, value }: ClusterInput, bounds: ClusterBounds): void {
  const { trueMean, squares, equal } = bounds;
  for (let row = 0; row < cluster.length; row++) {
    const c = cluster[row]!;
    if (c < 0 || equal[c] === 1) continue;
    const d = value[row]! - trueMean[c]!;
    squares[c]! += d * d;
  }
}

/**
 * Squares about another centre than the mean grow by n t^2, t the distance. The trainer's centre lies within
 * `meanError` of the mean, or is the pinned one; one that takes the deviation in higher precision has the mean.
 *
 * The reference is rounded too. With m" at most r from the mean m, the exact sum about m" is Q + n r^2; the float64
 * evaluation rounds differences, squares and a sum of n terms by a relative (n + 3) 2^-53. So the computed Q" gives
 * Q"(1 - (n + 3) 2^-53) - n r^2 <= Q <= Q"(1 + (n + 3) 2^-53), and the trainer's centre lies within t + r of m.
 */
function boundDeviation(c: number, bounds: ClusterBounds, kind: Deviation, reference: number): void {
  const { unit, overflow, tiny } = bounds.arithmetic;
  const n = bounds.size[c]!;
  const divisor = kind === 'population' ? n : Math.max(1, n - 1);
  const r = bounds.equal[c] === 1 ? 0 : reference;
  const t =
    r + (bounds.pinned[c] === 1 ? Math.abs(bounds.mean[c]! - bounds.trueMean[c]!) : bounds.meanError[c]!);
  const own = (n + 3) * FLOAT64.unit;
  const least = Math.max(0, bounds.squares[c]! * (1 - own) - n * r * r);
  const most = bounds.squares[c]! * (1 + own) + n * t * t * (1 + 1e-9);
  const relative = deviationRoundings(n, unit);
  const spread = bounds.inputSpread[c]! * Math.sqrt(n / divisor) * (1 + relative + 1e-9);
  const blur = spread + Math.sqrt(n * tiny);
  bounds.divisor[c] = divisor;
  bounds.deviation[c] = Math.sqrt(bounds.squares[c]! / divisor);
  bounds.deviationLow[c] = Math.max(0, Math.sqrt(least / divisor) * (1 - relative) - blur);
  bounds.deviationHigh[c] = Math.sqrt(most / divisor) * (1 + relative) + blur;
  if (most >= overflow) bounds.overflow[c] = 1;
}

/** Relative error of differences, squares, a sum of n of them, a division and a root. */
export function deviationRoundings(n: number, unit: number): number {
  return (n / 2 + 5) * unit * (1 + n * unit);
}
