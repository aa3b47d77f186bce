/**
 * The inputs of the estimator: the trainer's own float32 step returns if the batch has them, else recomputed ones;
 * and the row scores. What is missing is said in words, and makes rows unverifiable.
 */

import type { Batch } from '../format/batch.ts';
import { type ReturnBounds, returnBounds } from '../provenance/return-bounds.ts';
import { type Arithmetic, arithmeticOf, REPORT_UNIT } from './arithmetic.ts';

/** A column of values, and how far each may be from what the trainer used. */
export interface InputColumn {
  /** Numbers of the trainer's format. */
  readonly value: Float64Array;
  readonly error?: Float64Array | undefined;
  /** As the file states them, if these are other numbers. */
  readonly stated?: Float64Array | undefined;
  /** Distance to what the trainer may have used instead: the stated number, or its float32 rounding. */
  readonly rounding?: Float64Array | undefined;
}

export interface Inputs {
  readonly arithmetic: Arithmetic;
  /** Undefined if neither returns nor rewards are in the batch. */
  readonly stepReturn?: InputColumn;
  readonly score?: InputColumn;
  /** The columns of the reward functions, with their weights. */
  readonly rewards?: readonly { readonly weight: number; readonly column: InputColumn }[];
  /** Returns from rewards, gamma and penalty; undefined if the batch lacks one of them. */
  readonly recomputed?: ReturnBounds;
}

/** Chooses the columns that the estimator is evaluated on. */
export function chooseInputs(batch: Batch): Inputs {
  const arithmetic = arithmeticOf(batch.estimator.precision);
  const recomputed = recompute(batch, arithmetic);
  const stepReturn = chooseReturns(batch, arithmetic, recomputed);
  const score = batch.tokenLevelRewardSum && {
    ...rounded(batch.tokenLevelRewardSum, arithmetic),
    error: batch.scoreError,
  };
  return {
    arithmetic,
    ...(stepReturn === undefined ? {} : { stepReturn }),
    ...(score === undefined ? {} : { score }),
    ...(recomputed === undefined ? {} : { recomputed }),
    ...(batch.rewards && {
      rewards: batch.rewards.map(({ weight, value }) => ({ weight, column: rounded(value, arithmetic) })),
    }),
  };
}

function recompute(batch: Batch, arithmetic: Arithmetic): ReturnBounds | undefined {
  const { reward, actionValid, trajectory, estimator } = batch;
  const { gamma, invalidActionPenalty } = estimator;
  if (reward === undefined) return undefined;
  if (actionValid === undefined && invalidActionPenalty !== 0) return undefined;
  return returnBounds({ trajectory, reward, actionValid, gamma, invalidActionPenalty }, arithmetic);
}

/**
 * float32: the reported returns are the very numbers the trainer computed with. float64: they are rounded for the
 * report, so that recomputed ones are closer, if they agree with the reported.
 */
function chooseReturns(
  batch: Batch,
  arithmetic: Arithmetic,
  recomputed: ReturnBounds | undefined,
): InputColumn | undefined {
  const reported = batch.reportedStepReward;
  if (reported === undefined) return recomputed && { value: recomputed.stepReturn, error: recomputed.error };
  if (arithmetic.name === 'float32') return { value: reported };
  if (recomputed !== undefined && mismatchedReturns(reported, recomputed, arithmetic).length === 0) {
    return { value: recomputed.stepReturn, error: recomputed.error };
  }
  return { value: reported, error: reported.map((x) => REPORT_UNIT * Math.abs(x)) };
}

/** Rows whose reported return cannot come from the rewards. NaN differs from everything but NaN. */
export function mismatchedReturns(
  reported: Float64Array,
  { stepReturn, error }: ReturnBounds,
  arithmetic: Arithmetic,
): number[] {
  const report = arithmetic.unit < REPORT_UNIT ? REPORT_UNIT : 0;
  const rows: number[] = [];
  for (let row = 0; row < reported.length; row++) {
    const truth = stepReturn[row]!;
    const value = reported[row]!;
    if (!Number.isFinite(truth)) {
      if (Number.isFinite(value)) rows.push(row);
      continue;
    }
    const allowed = error[row]! + report * Math.abs(truth) + 2 ** -48 * Math.abs(truth) + 2 ** -126;
    if (!(Math.abs(value - truth) <= allowed)) rows.push(row);
  }
  return rows;
}

/**
 * A float32 trainer rounds what is no float32 number before it computes; another computes with the stated number and
 * rounds what it makes of it, or computes in float64 on float32 numbers. The first is the value, the second as far away
 * as `rounding` says.
 */
function rounded(stated: Float64Array, { round }: Arithmetic): InputColumn {
  let rounding: Float64Array | undefined;
  for (let row = 0; row < stated.length; row++) {
    const x = stated[row]!;
    if (Math.fround(x) === x || !Number.isFinite(x)) continue;
    rounding ??= new Float64Array(stated.length);
    rounding[row] = Math.abs(x - Math.fround(x));
  }
  return rounding === undefined ? { value: stated } : { value: stated.map(round), stated, rounding };
}
