import type { GroupSlice, Refiner } from './refine.ts';
import type { Spread } from './spread.ts';
import { divisor } from './spread.ts';

/** The weighted sums of one group's rows, one level added after another. Indexed as in {@link Refiner}. */
export interface Totals {
  readonly value: Float64Array;
  /** Σ w·a */
  readonly weighted: Float64Array;
  /** Σ w */
  readonly weight: Float64Array;
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
  return {
    value: new Float64Array(capacity),
    weighted: new Float64Array(capacity),
    weight: new Float64Array(capacity),
  };
}

/** Starts a group: gathers its values and sets both sums to 0. */
export function loadTotals(totals: Totals, slice: GroupSlice, values: Float64Array): void {
  const { order, from, to } = slice;
  const { value, weighted, weight } = totals;
  for (let i = 0; i < to - from; i++) {
    value[i] = values[order === undefined ? from + i : order[from + i]!]!;
    weighted[i] = 0;
    weight[i] = 0;
  }
}

/**
 * Adds one level: for each cluster of the refiner's present level, a = (value − mean) [/ divisor] of each
 * member, times `levelWeight`. Two passes in float64. Where all values of a cluster are equal and finite the
 * advantage is exactly 0, whatever the mean rounds to.
 */
export function addLevel(refiner: Refiner, totals: Totals, rules: LevelRules, levelWeight: number): void {
  const { members, starts, clusters } = refiner;
  const { value, weighted, weight } = totals;
  const { normalize, keepZeros } = rules;
  for (let c = 0; c < clusters; c++) {
    const from = starts[c]!;
    const to = starts[c + 1]!;
    const first = value[members[from]!]!;
    let sum = first;
    let allEqual = first - first === 0;
    for (let j = from + 1; j < to; j++) {
      const v = value[members[j]!]!;
      sum += v;
      if (v !== first) allEqual = false;
    }
    if (allEqual) {
      if (keepZeros) for (let j = from; j < to; j++) weight[members[j]!]! += levelWeight;
      continue;
    }
    const mean = sum / (to - from);
    let by = 1;
    if (normalize) {
      let squares = 0;
      for (let j = from; j < to; j++) {
        const off = value[members[j]!]! - mean;
        squares += off * off;
      }
      by = divisor(rules, squares, to - from);
    }
    for (let j = from; j < to; j++) {
      const i = members[j]!;
      const a = (value[i]! - mean) / by;
      // NaN is not equal to 0: it stays, as in the recipe, and reaches the row's result.
      if (a === 0 && !keepZeros) continue;
      weighted[i]! += levelWeight * a;
      weight[i]! += levelWeight;
    }
  }
}

/** Adds the whole group's own advantage (one per row of the batch) with weight 1. */
export function addBase(totals: Totals, slice: GroupSlice, base: Float64Array, keepZeros: boolean): void {
  const { order, from, to } = slice;
  for (let i = 0; i < to - from; i++) {
    const a = base[order === undefined ? from + i : order[from + i]!]!;
    if (a === 0 && !keepZeros) continue;
    totals.weighted[i]! += a;
    totals.weight[i]! += 1;
  }
}

/** Ends a group: writes Σ w·a / (Σ w + weightEpsilon) of each row to `into`, 0 where nothing was added. */
export function settleTotals(
  totals: Totals,
  slice: GroupSlice,
  weightEpsilon: number,
  into: Float64Array,
): void {
  const { order, from, to } = slice;
  const { weighted, weight } = totals;
  for (let i = 0; i < to - from; i++) {
    const w = weight[i]!;
    into[order === undefined ? from + i : order[from + i]!] =
      w === 0 ? 0 : weighted[i]! / (w + weightEpsilon);
  }
}
