import type { StagePlan } from '../stages/chain.ts';
import type { Stage } from '../stages/table.ts';
import type { Estimator } from './estimator.ts';
import type { ChoiceRule, ParametersOf } from './parameters.ts';
import { completeParameters } from './parameters.ts';
import {
  EPSILON,
  GROUP_SINGLETON,
  GROUP_STATISTICS,
  groupVariants,
  MISSING_SCORE,
  numberText,
  ofScores,
  SCORES_OF_ROWS,
  unusual,
} from './shared.ts';

const NORMALIZE: ChoiceRule<'none' | 'group' | 'batch' | 'whiten'> = {
  kind: 'choice',
  choices: ['none', 'group', 'batch', 'whiten'],
  default: 'none',
  doc: 'Divide by the sample deviation + ε of the scores of the `group` or of the `batch`; `whiten` subtracts the mean of all advantages and divides by their deviation + ε.',
};

const PARAMETERS = {
  singleton: GROUP_SINGLETON,
  statistics: GROUP_STATISTICS,
  normalize: NORMALIZE,
  epsilon: EPSILON,
  missing: MISSING_SCORE,
} as const;

/** Everything that changes RLOO's numbers. `epsilon` counts with `normalize`. */
export type RlooParameters = ParametersOf<typeof PARAMETERS>;

/** The values of verl-agent's verl/trainer/ppo/core_algos.py. */
export const RLOO_RECIPE: RlooParameters = completeParameters(PARAMETERS);

/** See {@link rloo}. */
export const RLOO: Estimator<RlooParameters> = {
  name: 'rloo',
  title: 'REINFORCE with a leave-one-out baseline',
  formula:
    'A(i) = n / (n − 1) · (S_i − mean S) over the n rows of i’s group, then divided as `normalize` says',
  source: 'verl-agent, verl/trainer/ppo/core_algos.py',
  edgeCases: 'A group of one value gives S_i by `raw`. Scores that are all equal give 0.',
  parameters: PARAMETERS,
  fingerprint: (p) => [
    `singleton=${p.singleton}`,
    `over=${p.statistics}`,
    ...unusual('normalize', p.normalize, 'none'),
    ...(p.normalize === 'none' ? [] : [`eps=${numberText(p.epsilon)}`]),
    ...unusual('missing', p.missing, 'propagate'),
  ],
  uses: ({ statistics }) => ({ ...SCORES_OF_ROWS, scoresOver: statistics }),
  rowPlan: chainOf,
  variants: (p) => [
    ...groupVariants(p),
    { text: 'divided by the deviation of the group', changes: { normalize: 'group' } },
    { text: 'whitened over the batch', changes: { normalize: 'whiten' } },
  ],
};

function chainOf({ normalize, epsilon, singleton, missing, statistics }: RlooParameters): StagePlan {
  const batch = { over: 'batch', weight: 'row' } as const;
  const division = {
    do: 'divide-by-deviation',
    others: false,
    deviation: 'sample',
    epsilon,
    epsilonPlace: 'added',
  } as const;
  const stages: Stage[] = [{ do: 'subtract-others' }];
  if (normalize === 'whiten') {
    stages.push({ do: 'subtract-mean', set: batch }, { ...division, set: batch, of: 'current' });
  } else if (normalize !== 'none') {
    stages.push({ ...division, set: { ...batch, over: normalize }, of: 'scores' });
  }
  return { stages, singleton, missing, statistics };
}

/**
 * RLOO: REINFORCE with a leave-one-out baseline (verl-agent, verl/trainer/ppo/core_algos.py).
 *
 *   A(i) = n / (n − 1) · (S_i − mean S) over the n rows of i's group: S_i less the mean of the others
 *
 * In: group ids and scores, one per row; with `statistics: 'trajectories'` the trajectory ids too. Out: one
 * advantage per row, float64; exactly 0 if all scores of a group are equal. Errors as in GRPO.
 */
export const rloo = ofScores(PARAMETERS, chainOf);
