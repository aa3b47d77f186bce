/**
 * Step returns: discounted, from rewards, gamma and penalty, with what float32 accumulation can add. The formula is
 * the kernel's (returns.ts); the bound is derived in docs/explanation/error-bounds.md.
 */

import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { asCollected } from '../format/as-collected.ts';
import type { Batch, BatchEstimator } from '../format/batch.ts';
import { usesOf } from '../format/batch.ts';
import { goalDistances, goalReturns } from '../kernel/graph.ts';
import { stepReturns } from '../kernel/returns.ts';
import { idCount } from '../kernel/sets/steps.ts';

/** Returns in float64, and for each the distance within which the trainer's own lies. */
export interface ReturnBounds {
  readonly stepReturn: Float64Array;
  readonly error: Float64Array;
}

/**
 * The step returns of an estimator from the columns of a batch, float64: discounted rewards, or from distances to the goal.
 * Undefined if the batch lacks a column, or if the estimator's returns cannot be recomputed.
 */
export function returnsFor(
  batch: Batch,
  estimator: Pick<BatchEstimator, 'name' | 'params' | 'gamma' | 'invalidActionPenalty'>,
): Float64Array | undefined {
  const collected = asCollected(batch);
  if (collected !== undefined) {
    const own = returnsFor(collected.batch, estimator);
    return own && Float64Array.from(collected.from, (row) => own[row]!);
  }
  const { trajectory, reward, actionValid, group, observation, nextObservation: next } = batch;
  const { goalReturns: rule, nextObservation } = usesOf(estimator as BatchEstimator);
  if (nextObservation !== true) return reward && stepReturns({ trajectory, reward, actionValid }, estimator);
  if (rule === undefined || observation === undefined || next === undefined) return undefined;
  return goalReturns(goalDistances({ group, observation, next }), { ...rule, ...estimator }, actionValid);
}

/**
 * Bounds of {@link returnsFor}. A return from a distance is one power, rounded to the trainer's format, less the penalty;
 * powers of libraries may differ by a unit of float64.
 */
export function batchReturnBounds(batch: Batch, arithmetic: Arithmetic): ReturnBounds | undefined {
  const collected = asCollected(batch);
  if (collected !== undefined) {
    const own = batchReturnBounds(collected.batch, arithmetic);
    const spread = (column: Float64Array) => Float64Array.from(collected.from, (row) => column[row]!);
    return own && { stepReturn: spread(own.stepReturn), error: spread(own.error) };
  }
  const { reward, actionValid, trajectory, estimator } = batch;
  const { gamma, invalidActionPenalty } = estimator;
  if (actionValid === undefined && invalidActionPenalty !== 0) return undefined;
  if (usesOf(estimator).nextObservation !== true)
    return (
      reward && returnBounds({ trajectory, reward, actionValid, gamma, invalidActionPenalty }, arithmetic)
    );
  const stepReturn = returnsFor(batch, estimator);
  if (stepReturn === undefined) return undefined;
  const { unit, tiny } = arithmetic;
  const error = stepReturn.map((x, row) => {
    const penalty = actionValid?.[row] === 0 ? Math.abs(invalidActionPenalty) : 0;
    return (1.01 * unit + 2 ** -50) * (2 * Math.abs(x) + 2 * penalty) + tiny;
  });
  return { stepReturn, error };
}

/**
 * G_t = r_t + gamma G_{t+1}, less the penalty if the action was invalid; rows of a trajectory in batch order.
 * Each rounding (reward, gamma, product, sum, penalty, difference) costs at most u times its result.
 */
export function returnBounds(
  input: {
    readonly trajectory: Int32Array;
    readonly reward: Float64Array;
    readonly actionValid?: Uint8Array | undefined;
    readonly gamma: number;
    readonly invalidActionPenalty: number;
  },
  arithmetic: Arithmetic,
): ReturnBounds {
  const { trajectory, reward, actionValid, gamma, invalidActionPenalty } = input;
  const { unit, tiny } = arithmetic;
  // A rounded number may be larger than the exact one when it is rounded again.
  const rounding = unit * (1.001 + 4 * unit);
  const stepReturn = stepReturns(
    { trajectory, reward, ...(actionValid === undefined ? {} : { actionValid }) },
    { gamma, invalidActionPenalty },
  );
  const error = new Float64Array(reward.length);
  const trajectories = idCount('trajectory', trajectory);
  const nextReturn = new Float64Array(trajectories);
  const nextError = new Float64Array(trajectories);
  for (let row = reward.length - 1; row >= 0; row--) {
    const id = trajectory[row]!;
    const ahead = Math.abs(gamma * nextReturn[id]!);
    const discounted = reward[row]! + gamma * nextReturn[id]!;
    const carried = Math.abs(gamma) * nextError[id]! * (1 + 4 * unit);
    const own = rounding * (Math.abs(reward[row]!) + 2 * ahead + Math.abs(discounted) + carried) + tiny;
    nextError[id] = carried + own;
    nextReturn[id] = discounted;
    const penalised = actionValid !== undefined && actionValid[row] === 0 && invalidActionPenalty !== 0;
    const penalty = penalised ? rounding * (Math.abs(invalidActionPenalty) + Math.abs(stepReturn[row]!)) : 0;
    error[row] = nextError[id]! + penalty * (1 + unit);
  }
  return { stepReturn, error };
}
