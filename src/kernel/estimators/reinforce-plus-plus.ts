import type { RowSet, Stage, StagePlan } from '../stages.ts';
import type { Estimator } from './estimator.ts';
import type { ChoiceRule, ParametersOf } from './parameters.ts';
import {
  deviationRule,
  deviationVariant,
  EPSILON,
  EPSILON_PLACE,
  evaluateStages,
  numberText,
  SCORES_OF_ROWS,
  singletonRule,
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
  recentre: { kind: 'flag', default: true, doc: 'Subtract the mean of the batch before the division.' },
  normalizeByStd: { kind: 'flag', default: true, doc: 'Divide by the deviation.' },
  weight: WEIGHT,
  deviation: deviationRule('sample'),
  epsilon: { ...EPSILON, default: 1e-8 },
  epsilonPlace: { ...EPSILON_PLACE, default: 'variance-added' },
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
    `recentre=${p.recentre ? 'on' : 'off'}`,
    `std=${p.normalizeByStd ? p.deviation : 'none'}`,
    ...(p.normalizeByStd ? [`eps=${numberText(p.epsilon)}`, `eps-place=${p.epsilonPlace}`] : []),
    `weight=${p.weight}`,
    ...(p.baseline === 'group' ? [`singleton=${p.singleton}`] : []),
  ],
  uses: (p) => ({ ...SCORES_OF_ROWS, responseLength: p.weight === 'token' }),
  evaluate: (input, p) => evaluateStages(chainOf(p), input),
  rowPlan: chainOf,
  variants: (p) => [
    deviationVariant(p),
    { text: 'the mean of the group was subtracted', changes: { baseline: 'group' } },
    { text: 'the mean of the group was not subtracted', changes: { baseline: 'none' } },
    { text: 'not recentred', changes: { recentre: false } },
    { text: 'statistics over rows, not tokens', changes: { weight: 'row' } },
    {
      text: 'the variance has a floor instead of an added epsilon',
      changes: { epsilonPlace: 'variance-floor' },
    },
  ],
};

function chainOf(p: ReinforcePlusPlusParameters): StagePlan {
  const { deviation, epsilon, epsilonPlace, weight } = p;
  const batch = { over: 'batch', weight } as const;
  const stages: Stage[] = [];
  if (p.baseline === 'group') stages.push({ do: 'subtract-mean', set: { over: 'group', weight: 'row' } });
  if (p.recentre) stages.push({ do: 'subtract-mean', set: batch });
  if (p.normalizeByStd) {
    stages.push({
      do: 'divide-by-deviation',
      set: batch,
      of: 'current',
      others: false,
      deviation,
      epsilon,
      epsilonPlace,
    });
  }
  return { stages, singleton: p.singleton, missing: 'propagate' };
}
