import type { GroupSingleton, GroupStatistics } from './grpo.ts';
import { firstRows, groupSums } from './grpo.ts';
import { checkLength } from './steps.ts';

/** Everything that changes RLOO's numbers. What is left out is as in verl-agent ({@link RLOO_RECIPE}). */
export interface RlooParameters {
  /** A group of one value: `raw` passes the score through, `zero` gives 0. */
  readonly singleton: GroupSingleton;
  readonly statistics: GroupStatistics;
}

/** The values of verl-agent's verl/trainer/ppo/core_algos.py. */
export const RLOO_RECIPE: RlooParameters = { singleton: 'raw', statistics: 'rows' };

/**
 * RLOO: REINFORCE with a leave-one-out baseline (verl-agent, verl/trainer/ppo/core_algos.py).
 *
 *   A(i) = n / (n − 1) · (S_i − mean S) over the n rows of i's group: S_i less the mean of the others
 *
 * In: group ids and scores, one per row; with `statistics: 'trajectories'` the trajectory ids too. Out: one
 * advantage per row, float64; exactly 0 where all scores of a group are equal. Errors as in GRPO.
 */
export function rloo(
  group: Int32Array,
  score: Float64Array,
  parameters: Partial<RlooParameters> = {},
  trajectory?: Int32Array,
): Float64Array {
  const p = { ...RLOO_RECIPE, ...parameters };
  checkLength('score', score, group.length);
  const counted = p.statistics === 'trajectories' ? firstRows(group, trajectory) : undefined;
  const { count, mean } = groupSums(group, score, counted);
  const advantage = new Float64Array(group.length);
  for (let row = 0; row < group.length; row++) {
    const n = count[group[row]!]!;
    const s = score[row]!;
    if (n === 1) advantage[row] = p.singleton === 'zero' ? 0 : s;
    else advantage[row] = (n / (n - 1)) * (s - mean[group[row]!]!);
  }
  return advantage;
}
