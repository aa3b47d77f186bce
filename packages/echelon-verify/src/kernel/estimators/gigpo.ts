import { createLevels, groupSlice, loadGroup } from '../context.ts';
import { addLevel, clearTotals, createTotals, settleTotals } from '../levels.ts';
import { orderRows } from '../order.ts';
import type { StepColumns } from '../steps.ts';
import { checkLength, idCount } from '../steps.ts';
import type { Estimator } from './estimator.ts';
import { grpo } from './grpo.ts';
import type { ParametersOf } from './parameters.ts';
import { completeParameters } from './parameters.ts';
import {
  deviationRule,
  deviationVariant,
  EPSILON,
  EPSILON_PLACE,
  EPSILON_VARIANTS,
  GROUP_SINGLETON,
  GROUP_STATISTICS,
  groupVariants,
  modeRule,
  modeVariant,
  numberText,
  unusual,
} from './shared.ts';

/** The parameters of GiGPO, and of estimators that are GiGPO on other step returns. */
export const GIGPO_PARAMETERS = {
  mode: modeRule('mean_norm'),
  stepAdvantageWeight: { kind: 'number', default: 1, doc: 'ω, the weight of the step term.' },
  episodeAdvantageWeight: { kind: 'number', default: 1, doc: 'Weight of the episode term.' },
  epsilon: EPSILON,
  epsilonPlace: EPSILON_PLACE,
  deviation: deviationRule('sample'),
  singleton: GROUP_SINGLETON,
  statistics: GROUP_STATISTICS,
} as const;

/** Everything that changes GiGPO's numbers. `singleton` and `statistics` are of the episode term. */
export type GigpoParameters = ParametersOf<typeof GIGPO_PARAMETERS>;

/** The values of verl-agent's gigpo/core_gigpo.py. */
export const GIGPO_RECIPE: GigpoParameters = completeParameters(GIGPO_PARAMETERS);

/** See {@link gigpo}. */
export const GIGPO: Estimator<GigpoParameters> = {
  name: 'gigpo',
  title: 'Group-in-group policy optimisation',
  formula:
    'A(i) = v · A_episode(i) + ω · A_step(i): GRPO of the scores over i’s group, and the same of the step returns over the rows of the group with i’s observation',
  source: 'verl-agent, gigpo/core_gigpo.py',
  edgeCases: 'A step cluster of one row gives 0. `singleton` and `statistics` are of the episode term.',
  parameters: GIGPO_PARAMETERS,
  fingerprint: (p) => [
    p.mode,
    `step-weight=${numberText(p.stepAdvantageWeight)}`,
    ...(p.episodeAdvantageWeight === 1 ? [] : [`episode-weight=${numberText(p.episodeAdvantageWeight)}`]),
    ...(isDivided(p) ? [`std=${p.deviation}`, `eps=${numberText(p.epsilon)}`] : []),
    `singleton=${p.singleton}`,
    `over=${p.statistics}`,
    ...(isDivided(p) ? unusual('eps-place', p.epsilonPlace, GIGPO_RECIPE.epsilonPlace) : []),
  ],
  uses: (p) => ({
    observation: true,
    stepReturn: true,
    score: true,
    scoresOver: p.statistics,
    stepwise: p.stepAdvantageWeight !== 0,
  }),
  evaluate: ({ steps, stepReturn, score }, p) => gigpo(steps, stepReturn(), score(), p),
  rowPlan(p) {
    if (isDivided(p) && p.epsilonPlace !== 'added') return { unbounded: `epsilon ${p.epsilonPlace}` };
    const { deviation, singleton, statistics, epsilon, stepAdvantageWeight, episodeAdvantageWeight } = p;
    const norm = isDivided(p) ? 'deviation' : 'none';
    return {
      combination: 'sum',
      terms: [
        {
          over: 'group',
          norm,
          deviation,
          singleton,
          statistics,
          weight: episodeAdvantageWeight,
          overTokens: false,
        },
        {
          over: 'context',
          historyLength: 0,
          norm,
          deviation,
          weight: () => stepAdvantageWeight,
          weighedBy: `step weight ${stepAdvantageWeight}`,
        },
      ],
      epsilon,
      weightEpsilon: epsilon,
    };
  },
  variants: (p) => [
    deviationVariant(p),
    modeVariant(p),
    ...EPSILON_VARIANTS,
    { text: 'the step weight was omitted', changes: { stepAdvantageWeight: 1 } },
    { text: 'the step term is missing', changes: { stepAdvantageWeight: 0 } },
    { text: 'the episode term is missing', changes: { episodeAdvantageWeight: 0 } },
    ...groupVariants(p),
  ],
};

function isDivided({ mode }: Pick<GigpoParameters, 'mode'>): boolean {
  return mode === 'mean_std_norm';
}

/**
 * GiGPO: group-in-group policy optimisation (verl-agent, gigpo/core_gigpo.py).
 *
 *   A(i)      = v·A_episode(i) + ω·A_step(i)
 *   A_episode = GRPO of the scores, over the rows of a group
 *   A_step    = (G_i − mean) / (std + ε), or G_i − mean, over the rows of i's group with i's observation
 *
 * In: step returns G and scores, one per row. Out: one advantage per row, float64. Throws a RangeError on
 * unequal columns.
 */
export function gigpo(
  steps: StepColumns,
  stepReturn: Float64Array,
  score: Float64Array,
  parameters: Partial<GigpoParameters> = {},
): Float64Array {
  const p = completeParameters(GIGPO_PARAMETERS, parameters);
  const normalizeByStd = p.mode === 'mean_std_norm';
  const advantage = grpo(steps.group, score, { ...p, normalizeByStd }, steps.trajectory);
  const step = gigpoStepTerm(steps, stepReturn, p);
  for (let row = 0; row < steps.rows; row++) {
    advantage[row] = p.episodeAdvantageWeight * advantage[row]! + p.stepAdvantageWeight * step[row]!;
  }
  return advantage;
}

/** A_step alone, unweighted: parameters, shapes and errors as in {@link gigpo}. */
export function gigpoStepTerm(
  steps: StepColumns,
  stepReturn: Float64Array,
  parameters: Partial<GigpoParameters> = {},
): Float64Array {
  const p = completeParameters(GIGPO_PARAMETERS, parameters);
  checkLength('observation', steps.observation, steps.rows);
  checkLength('stepReturn', stepReturn, steps.rows);
  const rules = { ...p, normalize: p.mode === 'mean_std_norm', keepZeros: false };
  const rowOrder = orderRows(steps);
  const { starts, largest } = rowOrder;
  const keep = { keepSingles: false, keepEqual: false };
  const levels = createLevels(largest, idCount('observation', steps.observation), keep);
  const totals = createTotals(largest);
  const term = new Float64Array(steps.rows);
  for (let g = 0; g + 1 < starts.length; g++) {
    const slice = groupSlice(steps, stepReturn, rowOrder, g);
    loadGroup(levels, slice);
    clearTotals(totals, levels.size, 0);
    addLevel(levels, totals, rules, 1);
    settleTotals(totals, slice, term);
  }
  return term;
}
