/**
 * What one level can contribute to a row: (x - mean) / (deviation + epsilon), or x - mean, as intervals that hold
 * every value the trainer's arithmetic can give. The derivation is in docs/explanation/error-bounds.md.
 */

import { FLOAT32, nextFloat32 } from '../arithmetic/arithmetic.ts';
import type { Norm } from '../kernel/estimators/estimator.ts';
import type { ClusterBounds } from '../kernel/sets/cluster-bounds.ts';

/** `never`: the value is not 0 in any order; `maybe`: it may be; `surely`: it is in every order. */
export type Zero = 'never' | 'maybe' | 'surely';

/** One term of a row's advantage. */
export interface Part {
  /** k of the level, -1 for the part over the whole group. */
  level: number;
  /** Coefficient of the term: L^alpha for a level, 1 or the step weight in a sum. */
  weight: number;
  low: number;
  high: number;
  zero: Zero;
  bounds: ClusterBounds;
  cluster: number;
  value: number;
  valueError: number;
  /** Relative error that the part picks up after it was computed, e.g. in the mean over tokens. */
  extra: number;
  norm: Norm;
  epsilon: number;
  /** A deviation that is not above this gives 0. */
  guardAbove?: number | undefined;
  /** True if the bounds are those of any form: then the deviation has no list of candidates. */
  anyForm: boolean;
}

/** A part with nothing in it, to be filled again and again. */
export function emptyPart(bounds: ClusterBounds): Part {
  return {
    level: 0,
    weight: 1,
    low: 0,
    high: 0,
    zero: 'surely',
    bounds,
    cluster: 0,
    value: 0,
    valueError: 0,
    extra: 0,
    norm: 'deviation',
    epsilon: 0,
    anyForm: false,
  };
}

const HARDLY = 1e-5;
const REFINE_CANDIDATES = 129;

/** Fills `low`, `high` and `zero` of a part from its cluster's bounds. */
export function boundPart(part: Part): void {
  const { bounds, cluster, value, valueError } = part;
  if (part.norm === 'raw') setPart(part, value - valueError, value + valueError);
  else if (bounds.overflow[cluster] === 1) setPart(part, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
  else if (part.norm === 'leave-one-out') boundLeaveOneOut(part);
  else if (bounds.pinned[cluster] === 1 && valueError === 0) {
    const difference = bounds.arithmetic.round(value - bounds.mean[cluster]!);
    scalePart(part, difference, difference);
  } else boundDifference(part);
  const guard = guardOf(part);
  if (guard === 'closed') setPart(part, 0, 0);
  else if (guard === 'unknown') setPart(part, Math.min(0, part.low), Math.max(0, part.high));
}

/** Whether the guard of the part lets its deviation through. */
function guardOf({ norm, guardAbove, bounds, cluster }: Part): 'open' | 'closed' | 'unknown' {
  if (norm !== 'deviation' || guardAbove === undefined) return 'open';
  if (!(bounds.deviationHigh[cluster]! > guardAbove)) return 'closed';
  return bounds.deviationLow[cluster]! > guardAbove ? 'open' : 'unknown';
}

/** Interval of (x - mean) if the mean is one too. */
function boundDifference(part: Part): void {
  const { bounds, cluster, value, valueError } = part;
  const { unit } = bounds.arithmetic;
  const difference = value - bounds.mean[cluster]!;
  const blur = bounds.meanError[cluster]! + valueError + 2 ** -50 * Math.abs(value);
  const low = difference - blur;
  const high = difference + blur;
  scalePart(part, low - unit * Math.abs(low), high + unit * Math.abs(high));
}

/** Divides a numerator's interval by the interval of (deviation + epsilon), if the part is normalised. */
function scalePart(part: Part, low: number, high: number): void {
  const { bounds, extra } = part;
  const { unit } = bounds.arithmetic;
  if ((low === 0 && high === 0) || part.norm === 'none') {
    setPart(part, low - extra * Math.abs(low), high + extra * Math.abs(high));
    return;
  }
  const [lowest, highest] = ends(part);
  const least = denominator(lowest!, part.epsilon, unit, -1);
  const most = denominator(highest!, part.epsilon, unit, 1);
  const own = quotientRoundings(part);
  const a = low / (low > 0 ? most : least);
  const b = high / (high > 0 ? least : most);
  if (Number.isNaN(a) || Number.isNaN(b) || least <= 0) {
    setPart(part, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
    return;
  }
  setPart(part, a - own * Math.abs(a), b + own * Math.abs(b));
}

/** A quotient rounds once; the product with a reciprocal, which is another form, twice. */
function quotientRoundings({ bounds, extra, anyForm }: Part): number {
  const { unit } = bounds.arithmetic;
  return ((anyForm ? 2.02 : 1.01) * unit + extra) * (1 + unit);
}

function denominator(deviation: number, epsilon: number, unit: number, sign: 1 | -1): number {
  return (deviation + epsilon * (1 + sign * unit)) * (1 + sign * 1.01 * unit);
}

/**
 * RLOO: n / (n - 1) (x - mean), which verl evaluates as x n / (n - 1) - mean n / (n - 1): roundings on large terms
 * instead of on their difference, three at most.
 *
 * In any form: x n/(n - 1) - m n/(n - 1), (n x - S)/(n - 1), x - (S - x)/(n - 1), x less the mean of the others summed alone,
 * (x - m)/(1 - 1/n). All round terms of at most n/(n - 1) (|x| + |m|), no form more than six times, and take over the error of the
 * sum (of n values or fewer) n/(n - 1) times the mean's. The result's own rounding is one of u |off|, and the float64 evaluation
 * here costs a few 2^-53 of the terms.
 */
function boundLeaveOneOut(part: Part): void {
  const { bounds, cluster, value, valueError, anyForm } = part;
  const { unit } = bounds.arithmetic;
  const n = bounds.size[cluster]!;
  const scale = n / (n - 1);
  const mean = (anyForm ? bounds.trueMean : bounds.mean)[cluster]!;
  const error = bounds.meanError[cluster]! + Math.abs(bounds.mean[cluster]! - mean);
  const off = scale * (value - mean);
  const terms = scale * (Math.abs(value) + Math.abs(mean) + error);
  const roundings = anyForm ? 6.06 : LEAVE_ONE_OUT_ROUNDINGS;
  const blur = scale * (error + valueError) + (roundings * unit + 2 ** -50) * terms + unit * Math.abs(off);
  setPart(part, off - blur, off + blur);
}

/** A group of one row has mean 0 and deviation 1: value / (1 + epsilon), or the value itself. */
export function boundSingle(part: Part): void {
  const { unit } = part.bounds.arithmetic;
  const divided = part.norm === 'deviation' || part.norm === 'one-plus-epsilon';
  const a = divided ? part.value / (1 + part.epsilon) : part.value;
  const blur = ((divided ? 4 * unit : 0) + part.extra) * Math.abs(a) + part.valueError * (1 + 4 * unit);
  setPart(part, a - blur, a + blur);
}

/** Sets the interval, and with it whether the part may be 0. */
export function setPart(part: Part, low: number, high: number): void {
  part.low = low;
  part.high = high;
  if (low === 0 && high === 0) part.zero = 'surely';
  else part.zero = low <= 0 && high >= 0 ? 'maybe' : 'never';
}

/** True if the part's interval comes from a mean that can be enumerated: a float32 one of several members. */
export function isRefinable(part: Part): boolean {
  const { bounds, cluster } = part;
  if (bounds.arithmetic.digits !== FLOAT32.digits || bounds.overflow[cluster] === 1) return false;
  // Unknown inputs are no float32 numbers that could be tried.
  if (part.valueError !== 0 || bounds.inputError[cluster] !== 0) return false;
  if (bounds.size[cluster] === 1 || part.norm === 'raw' || guardOf(part) !== 'open') return false;
  return part.norm === 'leave-one-out' ? !part.anyForm : bounds.pinned[cluster] === 0;
}

/**
 * The values of a part, one by one: the computed mean is a float32 number within the bounds, and there are few.
 * Returns intervals as flat pairs [low, high, low, high, ...] of the non-zero values, or undefined if there are
 * too many. A value of exactly 0 is omitted: `zero` tells of it.
 */
export function refinePart(part: Part): number[] | undefined {
  const { bounds, cluster } = part;
  const means = float32Between(bounds, cluster);
  if (means === undefined) return undefined;
  const pairs: number[] = [];
  if (part.norm === 'leave-one-out') for (const mean of means) refineLeaveOneOut(part, mean, pairs);
  else if (part.norm === 'none')
    for (const mean of means) push(pairs, Math.fround(part.value - mean), part.extra);
  else refineScaled(part, means, pairs);
  return pairs;
}

/**
 * Of the values that {@link refinePart} gives, those of the likeliest mean: the true one, rounded. Undefined if that is
 * outside the bounds, or the value is 0.
 */
export function likelyPart(part: Part): { low: number; high: number } | undefined {
  const { bounds, cluster, value, extra, norm } = part;
  const mean = Math.fround(bounds.mean[cluster]!);
  if (!(Math.abs(mean - bounds.mean[cluster]!) <= bounds.meanError[cluster]!)) return undefined;
  const difference = Math.fround(value - mean);
  if (difference === 0) return undefined;
  if (norm === 'none') {
    const off = extra * Math.abs(difference);
    return { low: difference - off, high: difference + off };
  }
  const { unit } = bounds.arithmetic;
  if (norm === 'leave-one-out') {
    const n = bounds.size[cluster]!;
    const scaled = (n / (n - 1)) * difference;
    const off = LEAVE_ONE_OUT_ROUNDINGS * unit * Math.abs(scaled);
    return { low: scaled - off, high: scaled + off };
  }
  const [least, most] = part.anyForm ? ends(part) : deviationsAbout(part, []);
  return quotient(part, difference, least!, most!);
}

/** A difference over the deviations between two ends. */
function quotient(
  part: Part,
  difference: number,
  least: number,
  most: number,
): { low: number; high: number } {
  const { unit } = part.bounds.arithmetic;
  const own = quotientRoundings(part);
  const near = difference / denominator(most, part.epsilon, unit, 1);
  const far = difference / denominator(least, part.epsilon, unit, -1);
  const low = Math.min(near, far);
  const high = Math.max(near, far);
  return { low: low - own * Math.abs(low), high: high + own * Math.abs(high) };
}

function ends({ norm, bounds: { deviationLow, deviationHigh }, cluster }: Part): number[] {
  if (norm === 'one-plus-epsilon') return [1, 1];
  return [deviationLow[cluster]!, deviationHigh[cluster]!];
}

function push(pairs: number[], value: number, relative: number): void {
  if (value !== 0) pairs.push(value - relative * Math.abs(value), value + relative * Math.abs(value));
}

function refineScaled(part: Part, means: readonly number[], pairs: number[]): void {
  const { value } = part;
  const deviations = part.anyForm ? ends(part) : deviationsAbout(part, means);
  for (const mean of means) {
    const difference = Math.fround(value - mean);
    if (difference === 0) continue;
    for (let i = 0; i < deviations.length; i += 2) {
      const { low, high } = quotient(part, difference, deviations[i]!, deviations[i + 1]!);
      pairs.push(low, high);
    }
  }
}

const LEAVE_ONE_OUT_ROUNDINGS = 3.01;

/** Both products rounded or fused, the factor rounded or not, or the difference taken first. */
function refineLeaveOneOut(part: Part, mean: number, pairs: number[]): void {
  const { unit } = part.bounds.arithmetic;
  const n = part.bounds.size[part.cluster]!;
  const relative = LEAVE_ONE_OUT_ROUNDINGS * unit;
  push(pairs, (n / (n - 1)) * Math.fround(part.value - mean), relative);
  for (const a of scaledBy(part.value, n)) for (const b of scaledBy(mean, n)) push(pairs, a - b, relative);
}

function scaledBy(x: number, n: number): number[] {
  const factor = Math.fround(n / (n - 1));
  const product = Math.fround(x * n);
  return [
    Math.fround(product / (n - 1)),
    Math.fround(x * factor),
    x * factor,
    product / (n - 1),
    (x * n) / (n - 1),
  ];
}

/** The float32 numbers that the computed mean can be, or undefined if they are too many. */
function float32Between(bounds: ClusterBounds, cluster: number): number[] | undefined {
  const mean = bounds.mean[cluster]!;
  const error = bounds.meanError[cluster]!;
  const last = mean + error;
  let candidate = Math.fround(mean - error);
  if (candidate < mean - error) candidate = nextFloat32(candidate);
  const candidates: number[] = [];
  while (candidate <= last) {
    if (candidates.length === REFINE_CANDIDATES) return undefined;
    candidates.push(candidate);
    candidate = nextFloat32(candidate);
  }
  return candidates;
}

/**
 * Deviations about each candidate mean (the trainer may take the deviation with another order of summation than the
 * mean) and about the mean itself, as flat pairs; merged into one interval if they hardly differ.
 */
function deviationsAbout(part: Part, means: readonly number[]): number[] {
  const { bounds, cluster } = part;
  const whole = ends(part);
  if (whole[1]! - whole[0]! <= HARDLY * whole[1]!) return whole;
  const n = bounds.size[cluster]!;
  const divisor = bounds.divisor[cluster]!;
  const relative = (n / 2 + 6) * bounds.arithmetic.unit * (1 + n * bounds.arithmetic.unit);
  const blur = Math.sqrt(n * bounds.arithmetic.tiny);
  const distances = new Set([0]);
  for (const mean of means) distances.add(Math.abs(mean - bounds.mean[cluster]!));
  const pairs: number[] = [];
  for (const t of distances) {
    const about = Math.sqrt((bounds.squares[cluster]! + n * t * t) / divisor);
    pairs.push(Math.max(0, about * (1 - relative) - blur), about * (1 + relative) + blur);
  }
  return pairs;
}
