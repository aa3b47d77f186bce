/** Bounds of the mean and the deviation of sets of rows, in any form, for values that are themselves only bounded. */

import type { Forms } from '../../arithmetic/arithmetic.ts';
import { type Arithmetic, FLOAT64, MAX_SUM_DEPTH } from '../../arithmetic/arithmetic.ts';
import { boundAnyForm } from './any-form.ts';
import { type ClusterBounds, clusterBounds, emptyBounds } from './cluster-bounds.ts';
import type { Deviation } from './spread.ts';

/** One entry per set. */
export interface SetBounds {
  readonly rows: Int32Array;
  /** The float64 mean of the rows' float64 values. */
  readonly mean: Float64Array;
  readonly meanError: Float64Array;
  /** The float64 deviation of the rows' float64 values. */
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
    deviation: column(),
    deviationLow: column(),
    deviationHigh: column(),
    overflow: new Uint8Array(sets),
  };
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
  const bounds = emptySets(sets);
  const sums = sumTokens({ ids, sets, value, radius, tokens });
  for (let set = 0; set < sets; set++) {
    const n = sums.tokens[set]!;
    const r = sums.radius[set]! / n;
    const spread = Math.sqrt(sums.radiusSquares[set]! / n);
    const mean = sums.mean[set]!;
    const depth = Math.min(n, MAX_SUM_DEPTH);
    const grown = 1 + 2 * depth * unit;
    const size = sums.absolute[set]! / n + r;
    const own =
      unit * (depth + 4) * grown * size + 4 * unit * (Math.abs(mean) + r) + depth * FLOAT64.unit * size;
    const divisor = deviation === 'population' ? n : Math.max(1, n - 1);
    const sigma = Math.sqrt(sums.squares[set]! / divisor);
    const blur = spread * Math.sqrt(n / divisor) + Math.sqrt(tiny);
    const total = (Math.sqrt(sums.squares[set]! / n + mean * mean) + spread) ** 2;
    const largest = Math.abs(mean) + r;
    const off =
      (n / divisor) *
      (unit * (depth + 10) * grown * (total + largest * largest) + 2 * largest * own + own * own);
    const ends = [Math.max(0, sigma - blur), sigma + blur] as const;
    bounds.rows[set] = sums.rows[set]!;
    bounds.mean[set] = mean;
    bounds.meanError[set] = own + r + tiny;
    bounds.deviation[set] = sigma;
    bounds.deviationLow[set] = Math.sqrt(Math.max(0, ends[0] ** 2 - off)) * (1 - 8 * unit);
    bounds.deviationHigh[set] = Math.sqrt(ends[1] ** 2 + off) * (1 + 8 * unit);
    // Sums that may lose every digit say nothing.
    const isLost = 2 * (depth + 10) * unit >= 1;
    bounds.overflow[set] = isLost || n * Math.max(size, total + size * size) >= overflow ? 1 : 0;
  }
  return bounds;
}

interface TokenSums {
  readonly rows: Int32Array;
  readonly tokens: Float64Array;
  readonly mean: Float64Array;
  readonly absolute: Float64Array;
  readonly squares: Float64Array;
  readonly radius: Float64Array;
  readonly radiusSquares: Float64Array;
}

function sumTokens({ ids, sets, value, radius, tokens }: TokenSets): TokenSums {
  const column = () => new Float64Array(sets);
  const rows = new Int32Array(sets);
  const sums = {
    rows,
    tokens: column(),
    mean: column(),
    absolute: column(),
    squares: column(),
    radius: column(),
    radiusSquares: column(),
  };
  const first = column();
  const mixed = new Uint8Array(sets);
  for (let row = 0; row < ids.length; row++) {
    const set = ids[row]!;
    if (set < 0) continue;
    const w = tokens[row]!;
    if (rows[set]!++ === 0) first[set] = value[row]!;
    else if (value[row] !== first[set]) mixed[set] = 1;
    sums.tokens[set]! += w;
    if (w === 0) continue;
    sums.mean[set]! += w * value[row]!;
    sums.absolute[set]! += w * Math.abs(value[row]!);
    sums.radius[set]! += w * radius[row]!;
    sums.radiusSquares[set]! += w * radius[row]! ** 2;
  }
  for (let set = 0; set < sets; set++) {
    sums.mean[set] = mixed[set] === 1 ? sums.mean[set]! / sums.tokens[set]! : first[set]!;
  }
  for (let row = 0; row < ids.length; row++) {
    const set = ids[row]!;
    if (set < 0 || mixed[set] === 0 || tokens[row] === 0) continue;
    sums.squares[set]! += tokens[row]! * (value[row]! - sums.mean[set]!) ** 2;
  }
  return sums;
}
