import { criticalT, powerOf, rootOf, twoSidedP } from './student-t.ts';

/** Level of the tests and intervals, and the power that a plan aims at. */
export const ALPHA = 0.05;
const POWER = 0.8;
/** More seeds than anybody runs. */
const MAX_SEEDS = 1000;
/** All 2^seeds patterns of signs are tried up to this number of seeds. */
const MAX_FLIPPED = 20;

/** What the interval of the difference says about the margin. */
export type ComparisonOutcome =
  | 'better'
  | 'better-size-open'
  | 'worse'
  | 'worse-size-open'
  | 'equal'
  | 'not-decided';

/** A paired difference; in the unit of the differences it is made of. */
export interface PairedDifference {
  readonly seeds: number;
  readonly mean: number;
  /** Sample deviation of the seeds' differences, and mean's standard error, clustered by seed. */
  readonly deviation: number;
  readonly standardError: number;
  /** Interval of Student's t with seeds − 1 degrees of freedom, at the level 1 − `alpha`. */
  readonly interval: readonly [number, number];
  readonly p: number;
  /** Share of the 2^seeds patterns of signs whose sum is as far from 0; null above 20 seeds. */
  readonly signFlipP: number | null;
  /** The smallest true difference that so many seeds find with a power of 80 % at this deviation. */
  readonly detectable: number;
  readonly outcome: ComparisonOutcome;
  /** Not decided: how many more seeds a difference of the margin needs at this deviation; null if over a thousand. */
  readonly moreSeeds: number | null;
}

/**
 * Judges the differences of the seeds (at least two), each the mean of one method minus that of another over the same games. `margin`: the
 * smallest difference of interest, fixed before the first run. `alpha`: error of the interval and of the planned test.
 */
export function pairedDifference(
  differences: readonly number[],
  margin: number,
  alpha = ALPHA,
): PairedDifference {
  const seeds = differences.length;
  const freedom = seeds - 1;
  const mean = average(differences);
  const deviation = deviationOf(differences);
  const standardError = deviation / Math.sqrt(seeds);
  const reach = criticalT(alpha, freedom) * standardError;
  const interval = [mean - reach, mean + reach] as const;
  const outcome = outcomeOf(interval, margin);
  const needed = seedsFor(margin, deviation, alpha);
  return {
    seeds,
    mean,
    deviation,
    standardError,
    interval,
    p: standardError === 0 ? (mean === 0 ? 1 : 0) : twoSidedP(mean / standardError, freedom),
    signFlipP: seeds > MAX_FLIPPED ? null : signFlipP(differences),
    detectable: detectableWith(seeds, deviation, alpha),
    outcome,
    moreSeeds: needed === null ? null : Math.max(1, needed - seeds),
  };
}

function outcomeOf([low, high]: readonly [number, number], margin: number): ComparisonOutcome {
  if (low > margin) return 'better';
  if (high < -margin) return 'worse';
  if (low > -margin && high < margin) return 'equal';
  if (low > 0) return 'better-size-open';
  return high < 0 ? 'worse-size-open' : 'not-decided';
}

/** How many paired seeds find a true difference of `margin` with a power of 80 %; null if over a thousand. */
export function seedsFor(margin: number, deviation: number, alpha = ALPHA): number | null {
  const isEnough = (seeds: number) => detectableWith(seeds, deviation, alpha) <= margin;
  if (!isEnough(MAX_SEEDS)) return null;
  let [low, high] = [1, MAX_SEEDS];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (isEnough(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** The smallest true difference that so many seeds (at least two) find with a power of 80 %. `deviation`: of the seeds' differences. */
export function detectableWith(seeds: number, deviation: number, alpha = ALPHA): number {
  const critical = criticalT(alpha, seeds - 1);
  const shift = rootOf((one) => powerOf(one, seeds - 1, critical) - POWER, 100);
  return (shift * deviation) / Math.sqrt(seeds);
}

function signFlipP(differences: readonly number[]): number {
  const patterns = 2 ** differences.length;
  const sumOf = (pattern: number) =>
    Math.abs(differences.reduce((sum, one, at) => sum + (pattern & (1 << at) ? -one : one), 0));
  // Equal sums in another order may differ by a rounding.
  const least = sumOf(0) * (1 - 1e-12);
  let asFar = 0;
  for (let pattern = 0; pattern < patterns; pattern += 1) if (sumOf(pattern) >= least) asFar += 1;
  return asFar / patterns;
}

/** The mean of at least one value. */
export function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The sample deviation (divisor n − 1) of at least two values. */
export function deviationOf(values: readonly number[]): number {
  const mean = average(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}
