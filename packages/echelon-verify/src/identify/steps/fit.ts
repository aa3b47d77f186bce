/** Whether an arithmetic gives the reported gradient coefficients, up to one factor. */

import { TINY } from '../../arithmetic/interval.ts';
import type { StepModel } from '../../step/model/model.ts';

/** Numbers between which a factor lies. */
export interface Factor {
  readonly low: number;
  readonly high: number;
}

/** Sizes below which a number gives no factor: it may be flushed to 0. */
const NO_FACTOR = 2 ** -100;

/**
 * The factor between the reported coefficients of all trained tokens and those of the model; undefined if they have none in common.
 * It is 1 if every expected coefficient may be 0 and every reported one is admitted.
 */
export function factorOf(model: StepModel, rows: readonly number[]): Factor | undefined {
  const { batch, kept, chain } = model;
  const { offset, lossGradient } = batch.tokens;
  let [least, most] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const open: { row: number; token: number }[] = [];
  for (const row of rows) {
    model.startRow(row);
    for (let token = offset[row]!; token < offset[row + 1]!; token++) {
      if (kept?.[token] === 0) continue;
      model.evaluate(row, token);
      const { low, high } = chain.gradient;
      const reported = lossGradient![token]!;
      if (Number.isNaN(reported)) return undefined;
      if (low <= NO_FACTOR && high >= -NO_FACTOR) {
        if (reported !== 0 && low === 0 && high === 0) return undefined;
        open.push({ row, token });
        continue;
      }
      if (!Number.isFinite(high - low)) continue;
      const [a, b] = [reported / low, reported / high];
      least = Math.max(least, Math.min(a, b));
      most = Math.min(most, Math.max(a, b));
      if (!(least <= most) || most === 0 || least === 0) return undefined;
    }
  }
  const factor = least === Number.NEGATIVE_INFINITY ? { low: 1, high: 1 } : { low: least, high: most };
  return admits(model, open, factor) ? factor : undefined;
}

/** True if the tokens that may have no gradient have an admitted one. */
function admits(
  model: StepModel,
  tokens: readonly { row: number; token: number }[],
  { low: least, high: most }: Factor,
): boolean {
  const { lossGradient } = model.batch.tokens;
  let started = -1;
  for (const { row, token } of tokens) {
    if (row !== started) model.startRow(row);
    started = row;
    const { low, high } = model.evaluate(row, token).gradient;
    const ends = [least * low, least * high, most * low, most * high];
    const reported = lossGradient![token]!;
    if (!(reported >= Math.min(...ends) - TINY && reported <= Math.max(...ends) + TINY)) return false;
  }
  return true;
}

/** True if the factor may be this number. The additions of a mean have lost some of it. */
export function isFactor({ low, high }: Factor, value: number): boolean {
  const blur = 1e-9 * Math.abs(value);
  return value >= low - blur && value <= high + blur;
}
