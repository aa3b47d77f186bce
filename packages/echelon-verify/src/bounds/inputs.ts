/**
 * The inputs of the estimator: the trainer's own float32 step returns if the batch has them, else recomputed ones;
 * and the row scores. What is missing is said in words, and makes rows unverifiable.
 */

import { type Arithmetic, arithmeticOf } from '../arithmetic/arithmetic.ts';
import type { InputColumn } from '../arithmetic/interval.ts';
import type { Batch } from '../format/batch.ts';
import { TOKEN_COLUMNS, type TokenColumnName } from '../kernel/stages/token-sequences.ts';
import { batchReturnBounds, type ReturnBounds } from './return-bounds.ts';

export interface Inputs {
  readonly arithmetic: Arithmetic;
  /** Undefined if neither returns nor rewards are in the batch. */
  readonly stepReturn?: InputColumn;
  readonly score?: InputColumn;
  /** The columns of the reward functions, with their weights. */
  readonly rewards?: readonly { readonly weight: number; readonly column: InputColumn }[];
  /** The columns of tokens that the batch has. */
  readonly tokens: Readonly<Partial<Record<TokenColumnName, InputColumn>>>;
  readonly rewardBaseline?: InputColumn;
  /** Returns from rewards, gamma and penalty; undefined if the batch lacks one of them. */
  readonly recomputed?: ReturnBounds;
}

/** Chooses the columns that the estimator is evaluated on. */
export function chooseInputs(batch: Batch): Inputs {
  const arithmetic = arithmeticOf(batch.estimator.precision);
  const recomputed = batchReturnBounds(batch, arithmetic);
  const stepReturn = chooseReturns(batch, arithmetic, recomputed);
  const score = batch.tokenLevelRewardSum && {
    ...rounded(batch.tokenLevelRewardSum, arithmetic),
    error: batch.scoreError,
  };
  const tokens = TOKEN_COLUMNS.flatMap((name) => {
    const column = batch.tokens?.[name];
    return column === undefined ? [] : [[name, rounded(column, arithmetic)] as const];
  });
  return {
    arithmetic,
    tokens: Object.fromEntries(tokens),
    ...(batch.rewardBaseline && { rewardBaseline: rounded(batch.rewardBaseline, arithmetic) }),
    ...(stepReturn === undefined ? {} : { stepReturn }),
    ...(score === undefined ? {} : { score }),
    ...(recomputed === undefined ? {} : { recomputed }),
    ...(batch.rewards && {
      rewards: batch.rewards.map(({ weight, value }) => ({ weight, column: rounded(value, arithmetic) })),
    }),
  };
}

/**
 * The reported returns are the very numbers the trainer computed with, unless they are rounded for the report: then
 * recomputed ones are closer, if they agree with the reported.
 */
function chooseReturns(
  batch: Batch,
  arithmetic: Arithmetic,
  recomputed: ReturnBounds | undefined,
): InputColumn | undefined {
  const reported = batch.reportedStepReward;
  if (reported === undefined) return recomputed && { value: recomputed.stepReturn, error: recomputed.error };
  if (arithmetic.reportUnit <= arithmetic.unit) return rounded(reported, arithmetic);
  if (recomputed !== undefined && mismatchedReturns(reported, recomputed, arithmetic).length === 0) {
    return { value: recomputed.stepReturn, error: recomputed.error };
  }
  return { value: reported, error: reported.map((x) => arithmetic.reportUnit * Math.abs(x)) };
}

/** Rows whose reported return cannot come from the rewards. NaN differs from everything but NaN. */
export function mismatchedReturns(
  reported: Float64Array,
  { stepReturn, error }: ReturnBounds,
  arithmetic: Arithmetic,
): number[] {
  const { reportUnit: report, tiny } = arithmetic;
  const rows: number[] = [];
  for (let row = 0; row < reported.length; row++) {
    const truth = stepReturn[row]!;
    const value = reported[row]!;
    if (!Number.isFinite(truth)) {
      if (Number.isFinite(value)) rows.push(row);
      continue;
    }
    const allowed = error[row]! + report * Math.abs(truth) + 2 ** -48 * Math.abs(truth) + 2 ** 22 * tiny;
    if (!(Math.abs(value - truth) <= allowed)) rows.push(row);
  }
  return rows;
}

/**
 * A trainer rounds what is no number of its format before it computes, or computes with the stated number, or with that
 * number in float32. The first is the value; the others are, like the stated number, within `rounding` of it.
 */
function rounded(stated: Float64Array, { round }: Arithmetic): InputColumn {
  let rounding: Float64Array | undefined;
  for (let row = 0; row < stated.length; row++) {
    const x = stated[row]!;
    const single = Math.fround(x);
    if ((single === x && round(x) === x) || !Number.isFinite(x)) continue;
    rounding ??= new Float64Array(stated.length);
    const used = [x, single, round(single)];
    for (const one of used)
      rounding[row] = Math.max(rounding[row]!, Math.abs(one - round(x)), Math.abs(one - x));
  }
  return rounding === undefined ? { value: stated } : { value: stated.map(round), stated, rounding };
}
