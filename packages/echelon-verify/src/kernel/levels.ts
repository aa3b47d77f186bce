import type { ContextLevels, GroupSlice } from './context.ts';
import { measureClusters } from './context.ts';
import type { Spread } from './sets/spread.ts';

/** The weighted sums of one group's rows, one level added after another. Indexed as the group's rows are. */
export interface Totals {
  /** Σ w·a */
  readonly weighted: Float64Array;
  /** Σ w + ε */
  readonly weight: Float64Array;
  /** Scratch, by cluster. */
  readonly by: Float64Array;
}

/** What decides a level's advantage inside a cluster. */
export interface LevelRules extends Spread {
  /** Divide by the deviation. */
  readonly normalize: boolean;
  /** An advantage of exactly 0 keeps its weight. */
  readonly keepZeros: boolean;
}

/** Sums for groups of at most `capacity` rows. */
export function createTotals(capacity: number): Totals {
  const floats = () => new Float64Array(capacity);
  return { weighted: floats(), weight: floats(), by: floats() };
}

/** Starts a group of `size` rows: nothing added yet. */
export function clearTotals(totals: Totals, size: number, weightEpsilon: number): void {
  totals.weighted.fill(0, 0, size);
  // The smallest number adds nothing to a weight, and makes 0 / 0 of a row without levels a 0.
  totals.weight.fill(Math.max(weightEpsilon, Number.MIN_VALUE), 0, size);
}

/** Adds the present level: a = (value − mean) [/ divisor] of each live row, times `levelWeight`. */
export function addLevel(
  levels: ContextLevels,
  totals: Totals,
  rules: LevelRules,
  levelWeight: number,
): void {
  const { member, cluster, value, mean, live } = levels;
  const { weighted, weight, by } = totals;
  const { normalize, keepZeros } = rules;
  if (normalize) measureClusters(levels, rules, by);
  for (let j = 0; j < live; j++) {
    const i = member[j]!;
    const c = cluster[j]!;
    const off = value[i]! - mean[c]!;
    const a = normalize ? off / by[c]! : off;
    // NaN is not equal to 0: it stays, as in the recipe, and reaches the row's result.
    if (a === 0 && !keepZeros) continue;
    weighted[i]! += levelWeight * a;
    weight[i]! += levelWeight;
  }
}

/** Adds the whole group's own advantage (one per row of the batch) with weight 1. */
export function addBase(totals: Totals, slice: GroupSlice, base: Float64Array, keepZeros: boolean): void {
  const { order, from, to } = slice;
  const { weighted, weight } = totals;
  for (let i = 0; i < to - from; i++) {
    const a = base[order === undefined ? from + i : order[from + i]!]!;
    if (a === 0 && !keepZeros) continue;
    weighted[i]! += a;
    weight[i]! += 1;
  }
}

/** Ends a group: writes Σ w·a / (Σ w + ε) of each row to `into`, 0 if nothing was added. */
export function settleTotals(totals: Totals, slice: GroupSlice, into: Float64Array): void {
  const { order, from, to } = slice;
  const { weighted, weight } = totals;
  for (let i = 0; i < to - from; i++) {
    into[order === undefined ? from + i : order[from + i]!] = weighted[i]! / weight[i]!;
  }
}
