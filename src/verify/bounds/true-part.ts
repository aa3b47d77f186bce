/** What each level truly contributes to a row, in float64: for diagnosis and explanation. */

import type { ModelLevel, RowModel } from './row-model.ts';

/** Why a level gives a row nothing. */
export type DropReason = 'no-such-step' | 'singleton' | 'equal' | 'at-mean';

export interface TruePart {
  /** The level's advantage; 0 if it gives nothing. */
  readonly value: number;
  readonly reason?: DropReason;
}

/** The coefficient of each level in a row's advantage; 0 for a level that gives nothing. `parts` has one entry per level. */
export function sharesOf(model: RowModel, parts: readonly TruePart[]): number[] {
  const weights = model.levels.map(({ weight }, at) => {
    const { value, reason } = parts[at]!;
    return reason !== undefined || value === 0 ? 0 : weight;
  });
  if (model.combination === 'sum') return weights;
  const total = weights.reduce((sum, weight) => sum + weight, model.weightEpsilon);
  return weights.map((weight) => weight / total);
}

/** The true contribution of one level to one row, before any weight. */
export function truePart(model: RowModel, level: ModelLevel, row: number): TruePart {
  const { bounds, cluster, input, norm } = level;
  const c = cluster[row]!;
  if (c < 0) return { value: 0, reason: 'no-such-step' };
  const x = input.value[row]!;
  const n = bounds.size[c]!;
  if (n === 1) {
    if (!level.rawSingleton) return { value: 0, reason: 'singleton' };
    return { value: norm === 'deviation' ? x / (1 + model.epsilon) : x };
  }
  if (bounds.equal[c] === 1) return { value: 0, reason: 'equal' };
  const off = x - bounds.trueMean[c]!;
  if (off === 0) return { value: 0, reason: 'at-mean' };
  if (norm === 'deviation') return { value: off / (bounds.deviation[c]! + model.epsilon) };
  return { value: norm === 'none' ? off : (n / (n - 1)) * off };
}
