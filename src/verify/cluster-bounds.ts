/**
 * What float32 (or float64) arithmetic can make of the mean and the deviation of a cluster, in any order of
 * summation. The derivation is in docs/verification.md; the names below are those of its formulas.
 */

import type { Arithmetic } from './arithmetic.ts';
import { lowestBitExponent } from './arithmetic.ts';

/** Divisor of the variance: `population` n, `sample` n - 1. */
export type Deviation = 'population' | 'sample';

/** One entry per cluster. All numbers are in the unit of the values (or its square, for `squares`). */
export interface ClusterBounds {
  readonly arithmetic: Arithmetic;
  readonly size: Int32Array;
  /** The mean in float64: the true one. */
  readonly trueMean: Float64Array;
  /** The mean in float64; where `pinned`, the mean as the trainer's arithmetic gives it. */
  readonly mean: Float64Array;
  /** Half width of the interval of the computed mean; 0 where `pinned`. */
  readonly meanError: Float64Array;
  /** 1 where every order of summation gives the same mean. */
  readonly pinned: Uint8Array;
  /** 1 where all members are equal. */
  readonly equal: Uint8Array;
  /** Sum of squares about the true mean. */
  readonly squares: Float64Array;
  /** The true deviation. */
  readonly deviation: Float64Array;
  readonly deviationLow: Float64Array;
  readonly deviationHigh: Float64Array;
  /** Divisor of the variance, at least 1. */
  readonly divisor: Float64Array;
  /** 1 where an intermediate result may leave the format's range. */
  readonly overflow: Uint8Array;
}

export interface ClusterInput {
  /** Cluster of each row, -1 where the row has none. */
  readonly cluster: Int32Array;
  readonly count: number;
  readonly value: Float64Array;
  /** Half width of what is known of each value; absent where the values are exact inputs. */
  readonly valueError?: Float64Array | undefined;
}

/** Bounds for every cluster of one level. Linear in the rows. */
export function clusterBounds(
  input: ClusterInput,
  deviation: Deviation,
  arithmetic: Arithmetic,
): ClusterBounds {
  const sums = sumUp(input);
  const bounds = emptyBounds(input.count, arithmetic);
  for (let c = 0; c < input.count; c++) boundMean(c, sums, bounds);
  sumSquares(input, bounds);
  for (let c = 0; c < input.count; c++) boundDeviation(c, sums, bounds, deviation);
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
}

function sumUp({ cluster, count, value, valueError }: ClusterInput): Sums {
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
    if (valueError !== undefined && valueError[row]! > sums.error[c]!) sums.error[c] = valueError[row]!;
  }
  return sums;
}

function emptyBounds(count: number, arithmetic: Arithmetic): ClusterBounds {
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
  const sumError = unit * (1 + 2 * size * unit) * largestPartialSums(c, sums);
  const mean = Math.abs(bounds.mean[c]!);
  const own = (sumError * (1 + unit)) / size + unit * mean;
  bounds.meanError[c] = (own + sums.error[c]!) * (1 + 1e-9) + 2 ** -50 * mean + 2 ** -148;
}

/**
 * True where every partial sum, in any order, is a number of the format: then no addition rounds. Holds where all
 * values are multiples of 2^e and the sum of their sizes is at most 2^(e + digits); and, for equal values x, where
 * each j * x is one.
 */
function sumIsExact(c: number, sums: Sums, { digits, round, name }: Arithmetic): boolean {
  const lattice = sums.lattice[c]!;
  if (lattice === Number.POSITIVE_INFINITY) return true;
  if (sums.absolute[c]! < 2 ** (digits + lattice)) return true;
  if (sums.equal[c] !== 1 || name !== 'float32') return false;
  const x = sums.first[c]!;
  for (let j = 1; j <= sums.size[c]!; j++) if (round(j * x) !== j * x) return false;
  return true;
}

/** Upper bound of the sum of |partial sum| over the additions of any order: sum over j = 2..n of min(j M, T). */
function largestPartialSums(c: number, sums: Sums): number {
  const n = sums.nonZero[c]!;
  if (n < 2) return 0;
  const total = sums.absolute[c]!;
  const largest = sums.largest[c]!;
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
 */
function boundDeviation(c: number, sums: Sums, bounds: ClusterBounds, kind: Deviation): void {
  const { unit, overflow } = bounds.arithmetic;
  const n = bounds.size[c]!;
  const divisor = kind === 'population' ? n : Math.max(1, n - 1);
  const t = bounds.pinned[c] === 1 ? Math.abs(bounds.mean[c]! - bounds.trueMean[c]!) : bounds.meanError[c]!;
  const least = bounds.squares[c]!;
  const most = least + n * t * t * (1 + 1e-9);
  const relative = (n / 2 + 5) * unit * (1 + n * unit);
  const blur = sums.error[c]! * Math.sqrt(n / divisor) * (1 + 1e-9) + Math.sqrt(n) * 2 ** -74;
  bounds.divisor[c] = divisor;
  bounds.deviation[c] = Math.sqrt(least / divisor);
  bounds.deviationLow[c] = Math.max(0, bounds.deviation[c]! * (1 - relative) - blur);
  bounds.deviationHigh[c] = Math.sqrt(most / divisor) * (1 + relative) + blur;
  if (most >= overflow) bounds.overflow[c] = 1;
}
