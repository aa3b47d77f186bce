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
  let part: TruePart = { value: 0 };
  eachTruePart(model, level, { from: row, to: row + 1 }, (_, value, reason) => {
    part = reason === undefined ? { value } : { value, reason };
  });
  return part;
}

/** The true contributions of one level to the rows from `from` to `to` - 1, before any weight. */
export function eachTruePart(
  { epsilon }: RowModel,
  { bounds, cluster, input, norm, rawSingleton, guardAbove = Number.NEGATIVE_INFINITY }: ModelLevel,
  { from, to }: { readonly from: number; readonly to: number },
  visit: (row: number, value: number, reason?: DropReason) => void,
): void {
  const { size, equal, trueMean, deviation } = bounds;
  const { value } = input;
  const divides = norm === 'deviation' || norm === 'one-plus-epsilon';
  for (let row = from; row < to; row++) {
    const c = cluster[row]!;
    const n = c < 0 ? 0 : size[c]!;
    const x = value[row]!;
    if (c < 0) visit(row, 0, 'no-such-step');
    else if (norm === 'raw') visit(row, x);
    else if (n === 1 && !rawSingleton) visit(row, 0, 'singleton');
    else if (n === 1) visit(row, divides ? x / (1 + epsilon) : x);
    else if (equal[c] === 1) visit(row, 0, 'equal');
    else {
      const off = x - trueMean[c]!;
      const spread = norm === 'deviation' ? deviation[c]! : 1;
      if (off === 0) visit(row, 0, 'at-mean');
      else if (divides && !(spread > guardAbove)) visit(row, 0, 'equal');
      else if (divides) visit(row, off / (spread + epsilon));
      else visit(row, norm === 'none' ? off : (n / (n - 1)) * off);
    }
  }
}
