/**
 * The discounted step returns from rewards, gamma and penalty, with what float32 accumulation can add. The formula is
 * the kernel's (returns.ts); the bound is derived in docs/explanation/error-bounds.md.
 */

import type { Arithmetic } from '../bounds/arithmetic.ts';
import { stepReturns } from '../kernel/returns.ts';
import { idCount } from '../kernel/steps.ts';

/** Returns in float64, and for each the distance within which the trainer's own lies. */
export interface ReturnBounds {
  readonly stepReturn: Float64Array;
  readonly error: Float64Array;
}

/**
 * G_t = r_t + gamma G_{t+1}, less the penalty where the action was invalid; rows of a trajectory in batch order.
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
