/** Row scores from rewards: a trajectory's rewards, summed, less the row's own penalty. */

import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { asCollected } from '../format/as-collected.ts';
import { type Batch, usesOf } from '../format/batch.ts';

export interface ScoreCheck {
  /** Rows whose score cannot come from the rewards. */
  readonly rows: number[];
  /** What the rewards give, in float64. */
  readonly expected: Float64Array;
}

/**
 * Scores against rewards, or undefined if the batch lacks what the check needs. A score may differ by the
 * rounding of the sum in any order (u times the number of rewards times their sizes), of the penalty and of the
 * difference.
 */
export function mismatchedScores(batch: Batch, { unit, reportUnit }: Arithmetic): ScoreCheck | undefined {
  const { reward, actionValid, tokenLevelRewardSum: score, trajectory, estimator, rows } = batch;
  const penalty = estimator.invalidActionPenalty;
  const perTrajectory = usesOf(estimator).scoresOver === 'trajectories';
  if (score === undefined || reward === undefined) return undefined;
  if (actionValid === undefined && penalty !== 0) return undefined;
  const total = new Float64Array(batch.trajectoryNames.length);
  const size = new Float64Array(total.length);
  const terms = new Int32Array(total.length);
  const invalid = new Int32Array(total.length);
  // Copies of rows add nothing to their trajectory.
  for (const row of asCollected(batch)?.rows ?? trajectory.keys()) {
    const t = trajectory[row]!;
    total[t]! += reward[row]!;
    size[t]! += Math.abs(reward[row]!);
    if (reward[row] !== 0) terms[t]! += 1;
    if (actionValid?.[row] === 0) invalid[t]! += 1;
  }
  // One score for a whole trajectory is its rewards, or these less all its penalties: whichever is nearer.
  const ofTrajectory = (t: number, stated: number): number =>
    Math.abs(stated - total[t]!) <= Math.abs(stated - total[t]! + invalid[t]! * penalty) ? 0 : invalid[t]!;
  const expected = new Float64Array(rows);
  const off: number[] = [];
  for (let row = 0; row < rows; row++) {
    const t = trajectory[row]!;
    const own = actionValid?.[row] === 0 ? 1 : 0;
    const penalties = perTrajectory ? ofTrajectory(t, score[row]!) : own;
    expected[row] = total[t]! - penalties * penalty;
    if (!Number.isFinite(expected[row]!)) continue;
    const largest = size[t]! + Math.abs(penalties * penalty);
    const allowed = Math.max(unit, reportUnit, 2 ** -24) * (terms[t]! + penalties + 3) * largest + 2 ** -126;
    if (!(Math.abs(score[row]! - expected[row]!) <= allowed)) off.push(row);
  }
  return { rows: off, expected };
}
