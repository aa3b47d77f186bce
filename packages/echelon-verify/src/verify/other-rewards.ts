/**
 * Whether advantages that do not follow from the known rewards are those of other rewards. Evidence, not proof: it decides only
 * if nothing records that all rewards are known.
 */

import { present } from '../base/present.ts';
import { findLikelyCause } from '../explain/likely-cause.ts';
import type { Batch, BatchEstimator } from '../format/batch.ts';
import { estimate } from '../identify/estimate.ts';
import type { GrpoParameters } from '../kernel/estimators/grpo.ts';
import { type SetSums, setSums } from '../kernel/sets/row-sets.ts';
import { divisor } from '../kernel/sets/spread.ts';
import { idCount } from '../kernel/sets/steps.ts';
import { verifyBatch } from './verify-batch.ts';

/** Relative error of sums and deviations, beside what large rewards lose in float32. */
const TOLERANCE = 1e-3;
/** Agreement of an advantage with that of another row, which is of size 1. */
const CLOSE = 3e-5;
/** A reward that is missing leaves at least this share of the deviation of the others. */
const MIN_DEVIATION_LEFT = 0.1;
/** Functions of one name that give the same values: so many times their column counts. */
const COPIES = [2, 3];

/**
 * True if the estimator can give the advantages of each group, for some rewards, and no known fault gives them for the rewards
 * of the batch. `wrongRows` cannot be right by the rewards of the batch.
 */
export function followFromOtherRewards(
  batch: Batch,
  wrongRows: readonly number[],
  previous?: Batch,
): boolean {
  const { reportedAdvantage: advantage, tokenLevelRewardSum: reward } = batch;
  if (advantage === undefined || reward === undefined || !advantage.every(Number.isFinite)) return false;
  if (!areNormalised(batch.estimator, batch.group, reward, advantage)) return false;
  if (COPIES.some((times) => verifyBatch(withRewardsTimes(batch, times)).wrong === 0)) return true;
  if (findLikelyCause(batch, wrongRows, previous) !== undefined) return false;
  return !areRearranged(batch, advantage);
}

/** True if the advantages have the sums and deviations that the estimator leaves. */
function areNormalised(
  estimator: BatchEstimator,
  group: Int32Array,
  reward: Float64Array,
  advantage: Float64Array,
): boolean {
  // A row that no function scored is not of its group, and has an advantage of 0.
  const ids = group.map((g, row) => (Number.isNaN(reward[row]!) && advantage[row] === 0 ? -1 : g));
  const groups = idCount('group', group);
  const values = reward.map((r) => (Number.isFinite(r) ? r : 0));
  const known = setSums(ids, groups, values);
  const own = setSums(ids, groups, advantage);
  const largest = values.reduce((most, r) => Math.max(most, Math.abs(r)), 0);
  const tolerance = TOLERANCE + (group.length * 2 ** -24 * largest) / (deviationOverAll(known) || 1);
  const isCentred = own.mean.every((mean, g) => {
    const n = own.rows[g]!;
    return n === 0 || Math.abs(mean) <= tolerance * Math.sqrt(own.squares[g]! / n);
  });
  if (!isCentred) return false;
  if (estimator.name === 'gdpo') return areWhitened(advantage, tolerance);
  return estimator.name === 'grpo' && areScaled(estimator.params as GrpoParameters, own, known, tolerance);
}

/** Of a deviation over all rows that some function scored: those with an advantage of 0 may be none of them. */
function areWhitened(advantage: Float64Array, tolerance: number): boolean {
  const squares = advantage.reduce((sum, a) => sum + a * a, 0);
  const scored = advantage.reduce((count, a) => count + (a === 0 ? 0 : 1), 0);
  const [most, least] = [advantage.length, scored].map((rows) => Math.sqrt(squares / (rows - 1)));
  return most! <= 1 + tolerance && least! >= 1 - tolerance;
}

function areScaled(p: GrpoParameters, own: SetSums, known: SetSums, tolerance: number): boolean {
  if (p.baseline !== 'group' || p.clip !== 0) return false;
  if (p.normalizeByStd && p.deviationOver === 'batch') return deviationOverAll(own) <= 1 + tolerance;
  const deviationOf = (squares: number, n: number) => divisor({ ...p, epsilon: 0 }, squares, n);
  return own.squares.every((squares, g) => {
    const n = own.rows[g]!;
    const left = MIN_DEVIATION_LEFT ** 2 * known.squares[g]!;
    if (n < 2 || !p.normalizeByStd) return squares >= left;
    const least = left === 0 ? 0 : deviationOf(left, n) / divisor(p, left, n);
    const deviation = deviationOf(squares, n);
    return deviation <= 1 + tolerance && deviation >= least - tolerance;
  });
}

/** The deviation of all rows about the means of their groups. */
function deviationOverAll({ squares, rows: counts }: SetSums): number {
  const total = squares.reduce((sum, one) => sum + one, 0);
  const rows = counts.reduce((sum, one) => sum + one, 0);
  return Math.sqrt(total / Math.max(1, rows - 1));
}

/** The batch as if each reward function counted several times. */
function withRewardsTimes(batch: Batch, times: number): Batch {
  const { rewards, scoreError, tokenLevelRewardSum, reward } = batch;
  const scaled = (column: Float64Array | undefined) => column?.map((x) => times * x);
  return {
    ...batch,
    ...present({
      tokenLevelRewardSum: scaled(tokenLevelRewardSum),
      reward: scaled(reward),
      scoreError: scaled(scoreError),
      rewards: rewards?.map((one) => ({ ...one, weight: times * one.weight })),
    }),
  };
}

/** True if these are the values of the estimator in any rows and with any signs, or all of them times one factor. */
function areRearranged(batch: Batch, advantage: Float64Array): boolean {
  const own = estimate(batch).advantage;
  const [sizes, reported] = [own, advantage].map((column) => column.map(Math.abs).sort());
  const sumOf = (column: Float64Array) => column.reduce((sum, x) => sum + x, 0);
  // A deviation over the batch is another one with another reward, and so is the factor.
  const factor = isOverBatch(batch.estimator) ? 1 : sumOf(reported!) / sumOf(sizes!);
  return sizes!.every((size, at) => Math.abs(factor * size - reported![at]!) <= CLOSE);
}

function isOverBatch({ name, params }: BatchEstimator): boolean {
  return name === 'gdpo' || (params as GrpoParameters).deviationOver === 'batch';
}
