import { trajectoryMeans } from '../sets/row-sets.ts';
import type { StepColumns } from '../sets/steps.ts';
import { checkLength, idCount, statesOf } from '../sets/steps.ts';
import type { Estimator, Norm } from './estimator.ts';
import { grpo } from './grpo.ts';
import type { ChoiceRule, ParametersOf } from './parameters.ts';
import { completeParameters } from './parameters.ts';
import {
  deviationRule,
  deviationVariant,
  EPSILON,
  EPSILON_PLACE,
  EPSILON_VARIANTS,
  GROUP_SINGLETON,
  GROUP_STATISTICS,
  GUARD_ABOVE,
  groupVariants,
  guardParts,
  guardRule,
  modeVariant,
  numberText,
  unusual,
} from './shared.ts';

/** What is done with the values of a term. */
type TermMode = 'mean_std_norm' | 'mean_norm' | 'raw';

const TERM_MODES: readonly TermMode[] = ['mean_std_norm', 'mean_norm', 'raw'];

const MODE: ChoiceRule<TermMode> & { mustBeStated: true } = {
  kind: 'choice',
  choices: TERM_MODES,
  default: 'mean_norm',
  mustBeStated: true,
  doc: '`mean_std_norm` divides by the deviation, `mean_norm` only removes the mean, `raw` does neither.',
};

const EPISODE_MODE: ChoiceRule<TermMode | 'as-mode'> = {
  kind: 'choice',
  choices: ['as-mode', ...TERM_MODES],
  default: 'as-mode',
  doc: 'The mode of the episode term.',
};

const UNDIVIDED: ChoiceRule<'plain' | 'one-plus-epsilon'> = {
  kind: 'choice',
  choices: ['plain', 'one-plus-epsilon'],
  default: 'plain',
  doc: 'What `mean_norm` divides by: nothing, or 1 + ε.',
};

const STATES_OVER: ChoiceRule<'group' | 'batch'> = {
  kind: 'choice',
  choices: ['group', 'batch'],
  default: 'group',
  doc: 'Equal observations are compared within the `group`, or over the whole `batch`.',
};

/** The parameters of GiGPO, and of estimators that are GiGPO on other step returns. */
export const GIGPO_PARAMETERS = {
  mode: MODE,
  episodeMode: EPISODE_MODE,
  stepAdvantageWeight: { kind: 'number', default: 1, doc: 'ω, the weight of the step term.' },
  episodeAdvantageWeight: { kind: 'number', default: 1, doc: 'Weight of the episode term.' },
  epsilon: EPSILON,
  epsilonPlace: EPSILON_PLACE,
  deviation: deviationRule('sample'),
  singleton: GROUP_SINGLETON,
  statistics: GROUP_STATISTICS,
  statesOver: STATES_OVER,
  undivided: UNDIVIDED,
  guard: guardRule('none'),
  guardAbove: GUARD_ABOVE,
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
    ...(modeOfEpisode(p) === p.mode ? [] : [`episode=${p.episodeMode}`]),
    `step-weight=${numberText(p.stepAdvantageWeight)}`,
    ...(p.episodeAdvantageWeight === 1 ? [] : [`episode-weight=${numberText(p.episodeAdvantageWeight)}`]),
    ...(isDivided(p) ? [`std=${p.deviation}`] : []),
    ...(isDivided(p) || isByOne(p) ? [`eps=${numberText(p.epsilon)}`] : []),
    `singleton=${p.singleton}`,
    `over=${p.statistics}`,
    ...unusual('states-over', p.statesOver, 'group'),
    ...(isByOne(p) ? ['undivided=one-plus-epsilon'] : []),
    ...(isDivided(p) ? unusual('eps-place', p.epsilonPlace, GIGPO_RECIPE.epsilonPlace) : []),
    ...(isDivided(p) ? guardParts(p) : []),
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
    if (isDivided(p) && p.guard === 'keep') return { unbounded: 'a guard that keeps the value' };
    const { deviation, singleton, statistics, epsilon, stepAdvantageWeight, episodeAdvantageWeight } = p;
    const guard = p.guard === 'none' ? {} : { guardAbove: p.guardAbove };
    return {
      combination: 'sum',
      terms: [
        {
          over: 'group',
          norm: normOf(p, modeOfEpisode(p)),
          deviation,
          singleton,
          statistics,
          weight: episodeAdvantageWeight,
          overTokens: false,
          ...guard,
        },
        {
          over: 'context',
          historyLength: 0,
          overBatch: p.statesOver === 'batch',
          norm: normOf(p, p.mode),
          deviation,
          weight: () => stepAdvantageWeight,
          weighedBy: `step weight ${stepAdvantageWeight}`,
          ...guard,
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
    p.statesOver === 'group'
      ? { text: 'equal states of other groups were compared too', changes: { statesOver: 'batch' } }
      : { text: 'states were compared within groups', changes: { statesOver: 'group' } },
    { text: 'the returns were not normalised', changes: { mode: 'raw', episodeMode: modeOfEpisode(p) } },
    ...groupVariants(p),
  ],
};

type Modes = Pick<GigpoParameters, 'mode' | 'episodeMode' | 'undivided'>;

function modeOfEpisode({ mode, episodeMode }: Modes): TermMode {
  return episodeMode === 'as-mode' ? mode : episodeMode;
}

function isDivided(p: Modes): boolean {
  return p.mode === 'mean_std_norm' || modeOfEpisode(p) === 'mean_std_norm';
}

/** A term that only removes the mean is divided by 1 + ε. */
function isByOne(p: Modes): boolean {
  return p.undivided === 'one-plus-epsilon' && (p.mode === 'mean_norm' || modeOfEpisode(p) === 'mean_norm');
}

function normOf({ undivided }: Modes, mode: TermMode): Norm {
  if (mode === 'mean_std_norm') return 'deviation';
  if (mode === 'raw') return 'raw';
  return undivided === 'one-plus-epsilon' ? 'one-plus-epsilon' : 'none';
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
  const episode = term(p, modeOfEpisode(p), score, { ids: steps.group, trajectory: steps.trajectory });
  const step = gigpoStepTerm(steps, stepReturn, p);
  return episode.map((a, row) => p.episodeAdvantageWeight * a + p.stepAdvantageWeight * step[row]!);
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
  const ids = p.statesOver === 'batch' ? steps.observation : statesOf(steps);
  const size = new Int32Array(idCount('observation', ids));
  for (const id of ids) size[id]! += 1;
  const own = term({ ...p, singleton: 'zero', statistics: 'rows' }, p.mode, stepReturn, { ids });
  // A state met once gives 0, also if its return is no number.
  return p.mode === 'raw' ? own : own.map((a, row) => (size[ids[row]!] === 1 ? 0 : a));
}

/** One term: GRPO over sets of rows, or the values themselves. */
function term(
  p: GigpoParameters,
  mode: TermMode,
  x: Float64Array,
  { ids, trajectory }: { readonly ids: Int32Array; readonly trajectory?: Int32Array },
): Float64Array {
  if (mode === 'raw') return p.statistics === 'trajectory-mean' ? trajectoryMeans(x, trajectory) : x.slice();
  const { deviation, epsilon, epsilonPlace, singleton, statistics, guard, guardAbove } = p;
  const rules = { deviation, epsilon, epsilonPlace, singleton, statistics, guard, guardAbove };
  const normalizeByStd = mode === 'mean_std_norm';
  const centred = grpo(ids, x, { ...rules, normalizeByStd }, trajectory);
  const isByOne = !normalizeByStd && p.undivided === 'one-plus-epsilon';
  return isByOne ? centred.map((a) => a / (1 + epsilon)) : centred;
}
