import type { StagePlan } from '../stages/chain.ts';
import type { Stage } from '../stages/table.ts';
import type { Estimator } from './estimator.ts';
import type { ChoiceRule, NumberRule, ParametersOf } from './parameters.ts';
import { completeParameters } from './parameters.ts';
import {
  deviationRule,
  deviationVariant,
  EPSILON,
  EPSILON_PLACE,
  EPSILON_VARIANTS,
  GROUP_STATISTICS,
  GUARD_ABOVE,
  groupVariants,
  guardOf,
  guardParts,
  guardRule,
  MISSING_SCORE,
  numberText,
  ofScores,
  SCORES_OF_ROWS,
  singletonRule,
  unusual,
} from './shared.ts';

const BASELINE: ChoiceRule<'group' | 'leave-one-out'> = {
  kind: 'choice',
  choices: ['group', 'leave-one-out'],
  default: 'group',
  doc: '`leave-one-out` compares each row with the mean and deviation of the others.',
};

const DEVIATION_OVER: ChoiceRule<'group' | 'batch'> = {
  kind: 'choice',
  choices: ['group', 'batch'],
  default: 'group',
  doc: 'The deviation runs over the row’s `group`, or over all scores of the `batch`.',
};

const CLIP: NumberRule = {
  kind: 'number',
  default: 0,
  least: 0,
  doc: 'Advantages are clipped to ±`clip`. 0: they are not clipped.',
};

const PARAMETERS = {
  normalizeByStd: { kind: 'flag', default: true, doc: 'Divide by the deviation.' },
  epsilon: EPSILON,
  epsilonPlace: EPSILON_PLACE,
  deviation: deviationRule('sample'),
  singleton: singletonRule('raw'),
  statistics: GROUP_STATISTICS,
  baseline: BASELINE,
  deviationOver: DEVIATION_OVER,
  guard: guardRule('none'),
  guardAbove: GUARD_ABOVE,
  missing: MISSING_SCORE,
  clip: CLIP,
} as const;

/** Everything that changes GRPO's numbers. */
export type GrpoParameters = ParametersOf<typeof PARAMETERS>;

/** The values of verl-agent's verl/trainer/ppo/core_algos.py. */
export const GRPO_RECIPE: GrpoParameters = completeParameters(PARAMETERS);

/** See {@link grpo}. */
export const GRPO: Estimator<GrpoParameters> = {
  name: 'grpo',
  title: 'Group-relative policy optimisation',
  formula:
    'A(i) = (S_i − mean S) / (std S + ε) over the rows of i’s group; without `normalizeByStd`, S_i − mean S',
  source: 'verl-agent, verl/trainer/ppo/core_algos.py',
  edgeCases: 'A group of one value gives S_i / (1 + ε) by `raw`. Scores that are all equal give 0.',
  parameters: PARAMETERS,
  fingerprint: (p) => [
    `std=${p.normalizeByStd ? p.deviation : 'none'}`,
    ...(p.normalizeByStd ? [`eps=${numberText(p.epsilon)}`] : []),
    `singleton=${p.singleton}`,
    `over=${p.statistics}`,
    ...(p.normalizeByStd ? unusual('eps-place', p.epsilonPlace, GRPO_RECIPE.epsilonPlace) : []),
    ...unusual('baseline', p.baseline, GRPO_RECIPE.baseline),
    ...(p.normalizeByStd ? unusual('std-over', p.deviationOver, 'group') : []),
    ...(p.normalizeByStd ? guardParts(p) : []),
    ...unusual('missing', p.missing, 'propagate'),
    ...(p.clip === 0 ? [] : [`clip=${numberText(p.clip)}`]),
  ],
  uses: ({ statistics }) => ({ ...SCORES_OF_ROWS, scoresOver: statistics }),
  rowPlan: chainOf,
  variants: (p) => [
    deviationVariant(p),
    { text: divisionSwitched(p.normalizeByStd), changes: { normalizeByStd: !p.normalizeByStd } },
    ...EPSILON_VARIANTS,
    { text: 'leave-one-out baseline', changes: { baseline: 'leave-one-out' } },
    p.deviationOver === 'batch'
      ? { text: 'divided by the deviation of the group, not the batch', changes: { deviationOver: 'group' } }
      : { text: 'divided by the deviation of the whole batch', changes: { deviationOver: 'batch' } },
    ...groupVariants(p),
  ],
};

function chainOf(p: GrpoParameters): StagePlan {
  const others = p.baseline === 'leave-one-out';
  const set = { over: 'group', weight: 'row' } as const;
  const { deviation, epsilon, epsilonPlace, singleton, missing, statistics } = p;
  const division: Stage = {
    do: 'divide-by-deviation',
    set: { ...set, over: p.deviationOver },
    of: 'scores',
    others,
    deviation,
    epsilon,
    epsilonPlace,
    ...guardOf(p),
  };
  return {
    stages: [
      others ? { do: 'subtract-others' } : { do: 'subtract-mean', set },
      ...(p.normalizeByStd ? [division] : []),
      ...(p.clip === 0 ? [] : [{ do: 'clip', limit: p.clip } as const]),
    ],
    singleton,
    missing,
    statistics,
  };
}

function divisionSwitched(divided: boolean): string {
  return divided
    ? 'not divided by the deviation, although stated'
    : 'divided by the deviation, although not stated';
}

/**
 * GRPO: group-relative policy optimisation (verl-agent, verl/trainer/ppo/core_algos.py).
 *
 *   A(i) = (S_i − mean S) / (std S + ε), or S_i − mean S without `normalizeByStd`, over the rows of i's group
 *
 * In: group ids and scores, one per row; with `statistics: 'trajectories'` the trajectory ids too. Out: one
 * advantage per row, float64. A group of one value gives S_i / (1 + ε) by `raw`; scores that are all equal give
 * exactly 0. Throws a RangeError on unequal columns, a TypeError if trajectories are needed and missing.
 */
export const grpo = ofScores(PARAMETERS, chainOf);
