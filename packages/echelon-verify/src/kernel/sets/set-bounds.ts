/** Bounds of the mean and the deviation of sets of rows, in any form, for values that are themselves only bounded. */

import type { Forms } from '../../arithmetic/arithmetic.ts';
import { type Arithmetic, FLOAT64, MAX_SUM_DEPTH } from '../../arithmetic/arithmetic.ts';
import { boundAnyForm } from './any-form.ts';
import { type ClusterBounds, clusterBounds, emptyBounds } from './cluster-bounds.ts';
import { type SetSums, setSums } from './row-sets.ts';
import type { Deviation } from './spread.ts';

/** One entry per set. */
export interface SetBounds {
  readonly rows: Int32Array;
  /** The float64 mean of the rows' float64 values. */
  readonly mean: Float64Array;
  readonly meanError: Float64Array;
  /** The float64 variance and deviation of the rows' float64 values. */
  readonly variance: Float64Array;
  readonly deviation: Float64Array;
  readonly deviationLow: Float64Array;
  readonly deviationHigh: Float64Array;
  /** 1 if a sum or a square may leave the range of the arithmetic. */
  readonly overflow: Uint8Array;
}

interface Sets {
  /** The set of each row, -1 if the row is not counted. */
  readonly ids: Int32Array;
  readonly sets: number;
  readonly value: Float64Array;
  /** How far the trainer's value may be from `value`. */
  readonly radius: Float64Array;
}

function emptySets(sets: number): SetBounds {
  const column = () => new Float64Array(sets);
  return {
    rows: new Int32Array(sets),
    mean: column(),
    meanError: column(),
    variance: column(),
    deviation: column(),
    deviationLow: column(),
    deviationHigh: column(),
    overflow: new Uint8Array(sets),
  };
}

/** Sets of numbers without roundings. */
export function exactSets({ rows, weight, mean, squares }: SetSums, deviation: Deviation): SetBounds {
  const variance = squares.map((sum, set) => sum / divisorOf(deviation, weight[set]!));
  const sigma = variance.map(Math.sqrt);
  const [meanError, overflow] = [new Float64Array(mean.length), new Uint8Array(mean.length)];
  const deviations = { deviation: sigma, deviationLow: sigma, deviationHigh: sigma };
  return { rows, mean, meanError, variance, ...deviations, overflow };
}

function divisorOf(deviation: Deviation, n: number): number {
  return deviation === 'population' ? n : Math.max(1, n - 1);
}

/**
 * Every row counts once. With the forms `recipe` the mean is a division and the deviation is taken about it, in whatever order the sums
 * are; the unbiased factor may be a rounding of its own.
 */
export function valueSets(
  { ids, sets, value, radius }: Sets,
  deviation: Deviation,
  { arithmetic, forms }: { readonly arithmetic: Arithmetic; readonly forms: Forms },
): SetBounds {
  const input = { cluster: ids, count: sets, value, valueError: radius };
  const recipe = clusterBounds(input, deviation, arithmetic);
  const any = emptyBounds(1, arithmetic);
  const bounds = emptySets(sets);
  for (let set = 0; set < sets; set++) {
    boundAnyForm(recipe, set, any);
    bounds.rows[set] = recipe.size[set]!;
    bounds.mean[set] = recipe.trueMean[set]!;
    bounds.meanError[set] = any.meanError[0]!;
    bounds.variance[set] = recipe.squares[set]! / recipe.divisor[set]!;
    bounds.deviation[set] = recipe.deviation[set]!;
    bounds.deviationLow[set] = any.deviationLow[0]!;
    bounds.deviationHigh[set] = any.deviationHigh[0]!;
    bounds.overflow[set] = any.overflow[0]!;
    if (forms === 'recipe') pinForm(bounds, recipe, set);
  }
  return bounds;
}

/** Replaces the bounds of any form by the recipe's, if they are narrower. */
function pinForm(bounds: SetBounds, recipe: ClusterBounds, set: number): void {
  const slack = 4 * recipe.arithmetic.unit;
  const off = Math.abs(recipe.mean[set]! - recipe.trueMean[set]!);
  bounds.meanError[set] = Math.min(bounds.meanError[set]!, recipe.meanError[set]! + off);
  const [low, high] = [recipe.deviationLow[set]! * (1 - slack), recipe.deviationHigh[set]! * (1 + slack)];
  bounds.deviationLow[set] = Math.max(bounds.deviationLow[set]!, low);
  bounds.deviationHigh[set] = Math.min(bounds.deviationHigh[set]!, high);
}

interface TokenSets extends Sets {
  readonly tokens: Int32Array;
}

/**
 * A row counts once per response token: N tokens in all. A sum of depth h rounds by h u Σ|x| at most, whatever its order;
 * products with lengths or weights and the division add 4 u. A deviation is taken in two passes about the computed mean,
 * or in one: its squares are off by (h + 10) u of both Σ x² and N m², and by N (2 |m| e + e²) for a mean that is off by e.
 */
export function tokenSets(
  { ids, sets, value, radius, tokens }: TokenSets,
  deviation: Deviation,
  { unit, overflow, tiny }: Arithmetic,
): SetBounds {
  const sums = setSums(ids, sets, value, tokens);
  const column = () => new Float64Array(sets);
  const bounds = {
    ...exactSets(sums, deviation),
    deviationLow: column(),
    deviationHigh: column(),
  };
  const [absolute, radii, radiusSquares] = [column(), column(), column()];
  for (let row = 0; row < ids.length; row++) {
    const [set, w] = [ids[row]!, tokens[row]!];
    if (set < 0 || w === 0) continue;
    absolute[set]! += w * Math.abs(value[row]!);
    radii[set]! += w * radius[row]!;
    radiusSquares[set]! += w * radius[row]! ** 2;
  }
  for (let set = 0; set < sets; set++) {
    const n = sums.weight[set]!;
    const r = radii[set]! / n;
    const spread = Math.sqrt(radiusSquares[set]! / n);
    const mean = sums.mean[set]!;
    const depth = Math.min(n, MAX_SUM_DEPTH);
    const grown = 1 + 2 * depth * unit;
    const size = absolute[set]! / n + r;
    const own =
      unit * (depth + 4) * grown * size + 4 * unit * (Math.abs(mean) + r) + depth * FLOAT64.unit * size;
    const divisor = divisorOf(deviation, n);
    const sigma = bounds.deviation[set]!;
    const blur = spread * Math.sqrt(n / divisor) + Math.sqrt(tiny);
    const total = (Math.sqrt(sums.squares[set]! / n + mean * mean) + spread) ** 2;
    const largest = Math.abs(mean) + r;
    const off =
      (n / divisor) *
      (unit * (depth + 10) * grown * (total + largest * largest) + 2 * largest * own + own * own);
    const ends = [Math.max(0, sigma - blur), sigma + blur] as const;
    bounds.meanError[set] = own + r + tiny;
    bounds.deviationLow[set] = Math.sqrt(Math.max(0, ends[0] ** 2 - off)) * (1 - 8 * unit);
    bounds.deviationHigh[set] = Math.sqrt(ends[1] ** 2 + off) * (1 + 8 * unit);
    // Sums that may lose every digit say nothing.
    const isLost = 2 * (depth + 10) * unit >= 1;
    bounds.overflow[set] = isLost || n * Math.max(size, total + size * size) >= overflow ? 1 : 0;
  }
  return bounds;
}
