import { firstRows, groupSums } from '../group-sums.ts';
import { checkLength } from '../steps.ts';
import type { Estimator } from './estimator.ts';
import type { ParametersOf } from './parameters.ts';
import { completeParameters } from './parameters.ts';
import { EPSILON, GROUP_SINGLETON, GROUP_STATISTICS, groupVariants } from './shared.ts';

const PARAMETERS = { singleton: GROUP_SINGLETON, statistics: GROUP_STATISTICS } as const;

/** Everything that changes RLOO's numbers. */
export type RlooParameters = ParametersOf<typeof PARAMETERS>;

/** The values of verl-agent's verl/trainer/ppo/core_algos.py. */
export const RLOO_RECIPE: RlooParameters = completeParameters(PARAMETERS);

/** See {@link rloo}. */
export const RLOO: Estimator<RlooParameters> = {
  name: 'rloo',
  title: 'REINFORCE with a leave-one-out baseline',
  formula: 'A(i) = n / (n − 1) · (S_i − mean S) over the n rows of i’s group',
  source: 'verl-agent, verl/trainer/ppo/core_algos.py',
  edgeCases: 'A group of one value gives S_i by `raw`. Scores that are all equal give 0.',
  parameters: PARAMETERS,
  fingerprint: (p) => [`singleton=${p.singleton}`, `over=${p.statistics}`],
  uses: (p) => ({
    observation: false,
    stepReturn: false,
    score: true,
    scoresOver: p.statistics,
    stepwise: false,
  }),
  evaluate: ({ steps, score }, p) => rloo(steps.group, score(), p, steps.trajectory),
  rowPlan: ({ singleton, statistics }) => ({
    combination: 'sum',
    terms: [
      {
        over: 'group',
        norm: 'leave-one-out',
        deviation: 'sample',
        singleton,
        statistics,
        weight: 1,
        overTokens: false,
      },
    ],
    // Without effect: nothing is divided by a deviation.
    epsilon: EPSILON.default,
    weightEpsilon: EPSILON.default,
  }),
  variants: groupVariants,
};

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
  const p = completeParameters(PARAMETERS, parameters);
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
