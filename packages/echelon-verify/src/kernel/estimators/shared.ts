/** Parameters and variants that several estimators have. */

import type { GroupSingleton, GroupStatistics, RowSet } from '../sets/row-sets.ts';
import type { Deviation, EpsilonPlace } from '../sets/spread.ts';
import type { NormMode } from '../sets/steps.ts';
import type { StagePlan } from '../stages/chain.ts';
import { runStages } from '../stages/chain.ts';
import type { Guard } from '../stages/division.ts';
import type { AnySingleton, MissingRule } from '../stages/stage.ts';
import type { Stage } from '../stages/table.ts';
import type { Uses, Variant } from './estimator.ts';
import {
  type ChoiceRule,
  completeParameters,
  type NumberRule,
  type ParameterRules,
  type ParametersOf,
} from './parameters.ts';

const DEVIATIONS: readonly Deviation[] = ['population', 'sample'];
const MODES: readonly NormMode[] = ['mean_std_norm', 'mean_norm'];
const PLACES: readonly EpsilonPlace[] = ['added', 'floor', 'variance-added', 'variance-floor'];
const SINGLETONS: readonly GroupSingleton[] = ['raw', 'zero'];
const MISSING: readonly MissingRule[] = ['propagate', 'zero', 'exclude'];
const GUARDS: readonly GuardRule[] = ['none', 'keep', 'zero'];
const STATISTICS: readonly GroupStatistics[] = ['rows', 'trajectories', 'first-row', 'trajectory-mean'];

/** Epsilon, 1e-6 in verl-agent. */
export const EPSILON: NumberRule = {
  kind: 'number',
  default: 1e-6,
  least: 0,
  doc: 'Keeps the division by the deviation from blowing up.',
};

/** If epsilon goes. */
export const EPSILON_PLACE: ChoiceRule<EpsilonPlace> = {
  kind: 'choice',
  choices: PLACES,
  default: 'added',
  doc: '`added` divides by std + ε, `floor` by max(std, ε), `variance-added` by √(var + ε), `variance-floor` by √max(var, ε).',
};

/** Divisor of the variance. */
export function deviationRule(usual: Deviation): ChoiceRule<Deviation> {
  const doc = '`population` divides the sum of squares by n, `sample` by n − 1.';
  return { kind: 'choice', choices: DEVIATIONS, default: usual, doc };
}

/** Divide by the deviation, or only remove the mean. A batch must state it: trainers differ. */
export function modeRule(usual: NormMode): ChoiceRule<NormMode> & { mustBeStated: true } {
  const doc = '`mean_std_norm` divides by the deviation, `mean_norm` only removes the mean.';
  return { kind: 'choice', choices: MODES, default: usual, mustBeStated: true, doc };
}

/** What a group of one value gives. */
export const GROUP_SINGLETON: ChoiceRule<GroupSingleton> = {
  kind: 'choice',
  choices: SINGLETONS,
  default: 'raw',
  doc: 'A group of one value: `raw` passes it through (mean 0, deviation 1), `zero` gives 0.',
};

/** What a group of one value gives to an estimator whose published forms differ in it. */
export function singletonRule(usual: AnySingleton): ChoiceRule<AnySingleton> {
  const doc =
    'A group of one value: `raw` passes it through (mean 0, deviation 1), `zero` gives 0, `nan` gives NaN.';
  return { kind: 'choice', choices: [...SINGLETONS, 'nan'], default: usual, doc };
}

/** What a score of NaN does. */
export const MISSING_SCORE: ChoiceRule<MissingRule> = {
  kind: 'choice',
  choices: MISSING,
  default: 'propagate',
  doc: 'A score of NaN: `propagate` makes its group NaN, `zero` counts it as 0, `exclude` leaves it out of every statistic and gives its row 0, as it does to any advantage that is NaN.',
};

/** What a divisor that is not above the threshold does: `none` divides all the same. */
export type GuardRule = 'none' | 'keep' | 'zero';

/** See {@link GuardRule}. */
export function guardRule(usual: GuardRule): ChoiceRule<GuardRule> {
  const doc =
    'A divisor (before ε) that is not above `guardAbove`: `none` divides by it, `keep` does not divide, `zero` gives 0.';
  return { kind: 'choice', choices: GUARDS, default: usual, doc };
}

/** Threshold of the guard. */
export const GUARD_ABOVE: NumberRule = {
  kind: 'number',
  default: 0,
  least: 0,
  doc: 'Threshold of `guard`.',
};

/** The guard of a stage; absent for `none`. */
export function guardOf({ guard, guardAbove }: { readonly guard: GuardRule; readonly guardAbove: number }): {
  guard?: Guard;
} {
  return guard === 'none' ? {} : { guard: { above: guardAbove, otherwise: guard } };
}

/** The parts of a fingerprint that a guard adds. */
export function guardParts({
  guard,
  guardAbove,
}: {
  readonly guard: GuardRule;
  readonly guardAbove: number;
}): string[] {
  if (guard === 'none') return [];
  return [`guard=${guard}${guardAbove === 0 ? '' : `<=${numberText(guardAbove)}`}`];
}

/** What an estimator uses that is a chain over the scores of rows. */
export const SCORES_OF_ROWS: Uses = {
  observation: false,
  stepReturn: false,
  score: true,
  scoresOver: 'rows',
  stepwise: false,
};

/** Mean and deviation over the whole batch, as verl's `masked_whiten` has them. */
export const WHITENING = {
  recentre: { kind: 'flag', default: true, doc: 'Subtract the mean of the batch before the division.' },
  normalizeByStd: { kind: 'flag', default: true, doc: 'Divide by the deviation.' },
  deviation: deviationRule('sample'),
  epsilon: { ...EPSILON, default: 1e-8 },
  epsilonPlace: { ...EPSILON_PLACE, default: 'variance-added' },
} as const;

type Whitening = ParametersOf<typeof WHITENING>;

/** The stages of {@link WHITENING}. */
export function whiteningStages(p: Whitening, weight: RowSet['weight']): Stage[] {
  const { deviation, epsilon, epsilonPlace } = p;
  const set = { over: 'batch', weight } as const;
  const divide = { do: 'divide-by-deviation', set, of: 'current', others: false } as const;
  return [
    ...(p.recentre ? [{ do: 'subtract-mean', set } as const] : []),
    ...(p.normalizeByStd ? [{ ...divide, deviation, epsilon, epsilonPlace }] : []),
  ];
}

/** The parts of a fingerprint that {@link WHITENING} adds. */
export function whiteningParts(p: Whitening): string[] {
  return [
    `recentre=${p.recentre ? 'on' : 'off'}`,
    `std=${p.normalizeByStd ? p.deviation : 'none'}`,
    ...(p.normalizeByStd ? [`eps=${numberText(p.epsilon)}`, `eps-place=${p.epsilonPlace}`] : []),
  ];
}

/** Mistakes in the whitening. */
export function whiteningVariants(p: Whitening): Variant<Whitening>[] {
  return [
    deviationVariant(p),
    p.recentre
      ? { text: 'not recentred', changes: { recentre: false } }
      : { text: 'recentred', changes: { recentre: true } },
    p.normalizeByStd
      ? { text: 'not whitened', changes: { recentre: false, normalizeByStd: false } }
      : { text: 'whitened', changes: { recentre: true, normalizeByStd: true } },
    {
      text: 'the variance has a floor instead of an added epsilon',
      changes: { epsilonPlace: 'variance-floor' },
    },
  ];
}

/** The function of an estimator that is a chain over scores. It throws as {@link runStages} does. */
export function ofScores<R extends ParameterRules>(rules: R, chainOf: (p: ParametersOf<R>) => StagePlan) {
  const absent = (): never => {
    throw new TypeError('the chain needs more than scores');
  };
  return (
    group: Int32Array,
    score: Float64Array,
    parameters: Partial<ParametersOf<R>> = {},
    trajectory?: Int32Array,
  ): Float64Array => {
    const plan = chainOf(completeParameters(rules, parameters));
    return runStages(plan, { group, trajectory, score: () => score, tokens: absent, rewards: absent });
  };
}

/** What the mean and deviation of a group run over. */
export const GROUP_STATISTICS: ChoiceRule<GroupStatistics> = {
  kind: 'choice',
  choices: STATISTICS,
  default: 'rows',
  doc: 'The mean and deviation of a group run over all its `rows`, or over one value for each trajectory: the one of all its rows (`trajectories`), that of its first (`first-row`), or their mean, which all of them then have (`trajectory-mean`).',
};

interface Divided {
  readonly deviation: Deviation;
  readonly epsilon: number;
  readonly epsilonPlace: EpsilonPlace;
}

/** The other deviation. */
export function deviationVariant({
  deviation,
}: Pick<Divided, 'deviation'>): Variant<Pick<Divided, 'deviation'>> {
  const other = deviation === 'population' ? 'sample' : 'population';
  return {
    text: `the ${other} deviation instead of the ${deviation} deviation`,
    changes: { deviation: other },
  };
}

/** The other mode. */
export function modeVariant({ mode }: { readonly mode: string }): Variant<{ readonly mode: NormMode }> {
  const other = mode === 'mean_norm' ? 'mean_std_norm' : 'mean_norm';
  return { text: `${other} instead of ${mode}`, changes: { mode: other } };
}

/** Other epsilons, and other places for it. */
export const EPSILON_VARIANTS: readonly Variant<Divided>[] = [
  { text: 'epsilon 1e-4', changes: { epsilon: 1e-4 } },
  { text: 'epsilon 1e-8', changes: { epsilon: 1e-8 } },
  { text: 'epsilon added to the variance', changes: { epsilonPlace: 'variance-added' } },
  { text: 'epsilon as a floor of the deviation', changes: { epsilonPlace: 'floor' } },
];

interface Grouped {
  readonly singleton: GroupSingleton;
  readonly statistics: GroupStatistics;
}

/** Groups of one as 0, and statistics over the other unit. */
export function groupVariants({ statistics }: Pick<Grouped, 'statistics'>): Variant<Grouped>[] {
  return [
    { text: 'a group of one gives 0', changes: { singleton: 'zero' } },
    statistics !== 'rows'
      ? { text: 'statistics over rows, not trajectories', changes: { statistics: 'rows' } }
      : { text: 'statistics over trajectories, not rows', changes: { statistics: 'trajectories' } },
  ];
}

/** The part of a fingerprint that is there only if the value is not the usual one. */
export function unusual(key: string, value: string, usual: string): string[] {
  return value === usual ? [] : [`${key}=${value}`];
}

/** The shortest text that reads back as the same number, with 1e-6 as people write it. */
export function numberText(value: number): string {
  return value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential() : String(value);
}
