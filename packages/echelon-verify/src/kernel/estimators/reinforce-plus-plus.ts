import type { RowSet } from '../sets/row-sets.ts';
import type { StagePlan } from '../stages/chain.ts';
import type { Stage } from '../stages/table.ts';
import type { Estimator } from './estimator.ts';
import type { ChoiceRule, ParametersOf } from './parameters.ts';
import {
  SCORES_OF_ROWS,
  singletonRule,
  WHITENING,
  whiteningParts,
  whiteningStages,
  whiteningVariants,
} from './shared.ts';

const BASELINE: ChoiceRule<'none' | 'group'> = {
  kind: 'choice',
  choices: ['none', 'group'],
  default: 'none',
  doc: '`group` subtracts the mean of the row’s group first (REINFORCE++ baseline).',
};

const WEIGHT: ChoiceRule<RowSet['weight']> = {
  kind: 'choice',
  choices: ['row', 'token'],
  default: 'token',
  doc: 'A row counts once, or once per response `token`, in the mean and the deviation of the batch.',
};

const PARAMETERS = {
  baseline: BASELINE,
  weight: WEIGHT,
  ...WHITENING,
  singleton: singletonRule('raw'),
} as const;

/** Everything that changes the numbers of REINFORCE++. */
export type ReinforcePlusPlusParameters = ParametersOf<typeof PARAMETERS>;

/** REINFORCE++ and its baseline, for one score per row and no discount. */
export const REINFORCE_PLUS_PLUS: Estimator<ReinforcePlusPlusParameters> = {
  name: 'reinforce_plus_plus',
  title: 'REINFORCE++, with or without the baseline of the group',
  formula:
    'A(i) = (x_i − mean x) / √(var x + ε) over all response tokens of the batch, x_i = S_i, or S_i − mean S of i’s group by `baseline: group`',
  source: 'verl, verl/trainer/ppo/core_algos.py',
  edgeCases:
    'All tokens of a response have one value: no discount and no KL term in the reward. A group of one value gives x_i = S_i by `raw`.',
  parameters: PARAMETERS,
  fingerprint: (p) => [
    `baseline=${p.baseline}`,
    ...whiteningParts(p),
    `weight=${p.weight}`,
    ...(p.baseline === 'group' ? [`singleton=${p.singleton}`] : []),
  ],
  uses: (p) => ({ ...SCORES_OF_ROWS, responseLength: p.weight === 'token' }),
  rowPlan: chainOf,
  variants: (p) => [
    ...whiteningVariants(p),
    { text: 'the mean of the group was subtracted', changes: { baseline: 'group' } },
    { text: 'the mean of the group was not subtracted', changes: { baseline: 'none' } },
    { text: 'statistics over rows, not tokens', changes: { weight: 'row' } },
  ],
};

function chainOf(p: ReinforcePlusPlusParameters): StagePlan {
  const stages: Stage[] = [];
  if (p.baseline === 'group') stages.push({ do: 'subtract-mean', set: { over: 'group', weight: 'row' } });
  stages.push(...whiteningStages(p, p.weight));
  return { stages, singleton: p.singleton, missing: 'propagate' };
}
