import { createLevels, groupSlice, loadGroup, refineGroup } from '../context.ts';
import { addBase, addLevel, clearTotals, createTotals, settleTotals } from '../levels.ts';
import { orderRows } from '../order.ts';
import type { StepColumns } from '../sets/steps.ts';
import { checkHistoryLength, checkLength, idCount, MAX_HISTORY_LENGTH } from '../sets/steps.ts';
import type { ContextTerms, Estimator, GroupTerm, Variant } from './estimator.ts';
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
  modeRule,
  modeVariant,
  numberText,
  unusual,
} from './shared.ts';

const SINGLETON: ChoiceRule<'drop' | 'zero'> = {
  kind: 'choice',
  choices: ['drop', 'zero'],
  default: 'drop',
  doc: 'A cluster of one row: `drop` contributes nothing, `zero` contributes the advantage 0.',
};

const ZERO: ChoiceRule<'drop' | 'keep'> = {
  kind: 'choice',
  choices: ['drop', 'keep'],
  default: 'drop',
  doc: 'A level whose advantage is exactly 0: `drop` gives its weight to the others, `keep` does not.',
};

const WEIGHT_OFFSET: ChoiceRule<1 | 2> = {
  kind: 'choice',
  choices: [1, 2],
  default: 2,
  doc: 'Level k weighs (k + `weightOffset`)^α: 2 in the recipe, 1 in the paper.',
};

const PARAMETERS = {
  historyLength: {
    kind: 'number',
    default: 2,
    least: 0,
    most: MAX_HISTORY_LENGTH,
    integer: true,
    mustBeStated: true,
    doc: 'K: how many previous observations must agree as well.',
  },
  mode: modeRule('mean_std_norm'),
  lengthWeightAlpha: {
    kind: 'number',
    default: 1,
    least: -1000,
    most: 1000,
    doc: 'α, the exponent of the weights of the levels.',
  },
  baseGroup: {
    kind: 'flag',
    default: false,
    doc: 'Adds the whole group as one more level of weight 1, over the scores.',
  },
  epsilon: EPSILON,
  epsilonPlace: EPSILON_PLACE,
  deviation: deviationRule('population'),
  singleton: SINGLETON,
  zero: ZERO,
  weightOffset: WEIGHT_OFFSET,
  weightEpsilon: {
    kind: 'number',
    default: EPSILON.default,
    least: 0,
    sameAs: 'epsilon',
    doc: 'Added to the sum of the weights.',
  },
  baseDeviation: deviationRule('sample'),
  baseSingleton: GROUP_SINGLETON,
  baseStatistics: { ...GROUP_STATISTICS, alias: 'statistics' },
} as const;

/** Everything that changes HGPO's numbers. */
export type HgpoParameters = ParametersOf<typeof PARAMETERS>;

/** The values of verl-agent's recipe/hgpo. */
export const HGPO_RECIPE: HgpoParameters = completeParameters(PARAMETERS);

/** See {@link hgpo}. */
export const HGPO: Estimator<HgpoParameters> = {
  name: 'hgpo',
  title: 'Hierarchy-of-groups policy optimisation',
  formula:
    'A(i) = Σ w_k·a_k(i) / (Σ w_k + ε), w_k = (k + 2)^α, over the levels k = 0..K with at least two rows and a_k(i) ≠ 0; a_k(i) = (G_i − mean) / (std + ε) over the rows of i’s group that agree with i in the last k + 1 observations',
  source: 'verl-agent, recipe/hgpo/core_hgpo.py',
  edgeCases: 'A row without a level gives 0. Returns that are all equal within a cluster give it exactly 0.',
  parameters: PARAMETERS,
  fingerprint: (p) => [
    `K=${p.historyLength}`,
    p.mode,
    `alpha=${numberText(p.lengthWeightAlpha)}`,
    `base=${p.baseGroup ? 'on' : 'off'}`,
    ...(isDivided(p) ? [`std=${p.deviation}`] : []),
    `eps=${numberText(p.epsilon)}`,
    `singleton=${p.singleton}`,
    `zero=${p.zero}`,
    `weight=k+${p.weightOffset}`,
    ...(isDivided(p) ? unusual('eps-place', p.epsilonPlace, HGPO_RECIPE.epsilonPlace) : []),
    ...unusual('weight-eps', numberText(p.weightEpsilon), numberText(p.epsilon)),
    ...(p.baseGroup ? baseParts(p) : []),
  ],
  uses: (p) => ({
    observation: true,
    stepReturn: true,
    score: p.baseGroup,
    scoresOver: p.baseStatistics,
    stepwise: true,
  }),
  evaluate: ({ steps, stepReturn, score }, p) =>
    hgpo(steps, stepReturn(), p, p.baseGroup ? score() : undefined),
  rowPlan(p) {
    if (isDivided(p) && p.epsilonPlace !== 'added') return { unbounded: `epsilon ${p.epsilonPlace}` };
    if (p.zero !== 'drop') return { unbounded: `levels of advantage 0 that ${p.zero} their weight` };
    const { epsilon, weightEpsilon } = p;
    const terms = p.baseGroup ? [baseTerm(p), levelTerms(p)] : [levelTerms(p)];
    return { combination: 'weighted', terms, epsilon, weightEpsilon };
  },
  variants: (p) => [deviationVariant(p), modeVariant(p), ...EPSILON_VARIANTS, ...levelVariants(p)],
};

function isDivided({ mode }: HgpoParameters): boolean {
  return mode === 'mean_std_norm';
}

function baseParts(p: HgpoParameters): string[] {
  return [
    ...(isDivided(p) ? unusual('base-std', p.baseDeviation, HGPO_RECIPE.baseDeviation) : []),
    ...unusual('base-singleton', p.baseSingleton, HGPO_RECIPE.baseSingleton),
    ...unusual('base-over', p.baseStatistics, HGPO_RECIPE.baseStatistics),
  ];
}

function baseTerm(p: HgpoParameters): GroupTerm {
  return {
    over: 'group',
    norm: isDivided(p) ? 'deviation' : 'none',
    deviation: p.baseDeviation,
    singleton: p.baseSingleton,
    statistics: p.baseStatistics,
    weight: 1,
    overTokens: true,
  };
}

function levelTerms(p: HgpoParameters): ContextTerms {
  const { historyLength, deviation, lengthWeightAlpha } = p;
  return {
    over: 'context',
    historyLength,
    norm: isDivided(p) ? 'deviation' : 'none',
    deviation,
    weight: (level) => (level + p.weightOffset) ** lengthWeightAlpha,
    weighedBy: `alpha ${lengthWeightAlpha}`,
  };
}

function levelVariants({ historyLength, baseGroup }: HgpoParameters): Variant<HgpoParameters>[] {
  const near = [historyLength - 1, historyLength + 1, historyLength - 2, historyLength + 2, 0, 1];
  const lengths = [...new Set(near)].filter((k) => k >= 0 && k !== historyLength);
  return [
    {
      text: 'levels weigh (k+1)^alpha, as in the paper, instead of (k+2)^alpha',
      changes: { weightOffset: 1 },
    },
    { text: 'levels whose advantage is 0 keep their weight', changes: { zero: 'keep' } },
    { text: 'clusters of one keep their weight', changes: { singleton: 'zero', zero: 'keep' } },
    { text: `the base group is ${baseGroup ? 'omitted' : 'taken in'}`, changes: { baseGroup: !baseGroup } },
    ...lengths.map((k) => ({
      text: `history length ${k} instead of ${historyLength}`,
      changes: { historyLength: k },
    })),
    { text: 'alpha 0: all levels weigh the same', changes: { lengthWeightAlpha: 0 } },
    { text: 'alpha 1', changes: { lengthWeightAlpha: 1 } },
    { text: 'alpha 2', changes: { lengthWeightAlpha: 2 } },
  ];
}

/**
 * HGPO: hierarchy-of-groups policy optimisation (verl-agent, recipe/hgpo/core_hgpo.py).
 *
 *   C_k(i)  rows of i's group that agree with i in the last k + 1 observations, k = 0..min(K, step of i)
 *   a_k(i)  = (G_i − mean C_k) / (std C_k + ε)   or, in mean_norm, G_i − mean C_k
 *   A(i)    = Σ w_k·a_k(i) / (Σ w_k + ε),  w_k = (k + 2)^α, over the levels with |C_k| ≥ 2 and a_k(i) ≠ 0
 *
 * With `baseGroup` the group's own normalised score takes part with weight 1. In: step returns G (and scores),
 * one per row. Out: one advantage per row, float64; 0 if no level is left. A state met twice in one
 * trajectory is two members. A cluster whose returns are all equal has advantage exactly 0; NaN and infinities
 * stay within the clusters that hold them. Throws a RangeError on unequal columns or a bad history length.
 */
export function hgpo(
  steps: StepColumns,
  stepReturn: Float64Array,
  parameters: Partial<HgpoParameters> = {},
  score?: Float64Array,
): Float64Array {
  const p = completeParameters(PARAMETERS, parameters);
  checkHistoryLength(p.historyLength);
  checkLength('observation', steps.observation, steps.rows);
  checkLength('stepReturn', stepReturn, steps.rows);
  const rules = { ...p, normalize: p.mode === 'mean_std_norm', keepZeros: p.zero === 'keep' };
  const keep = { keepSingles: p.singleton === 'zero', keepEqual: rules.keepZeros };
  const rowOrder = orderRows(steps);
  const { starts, largest } = rowOrder;
  const levels = createLevels(largest, idCount('observation', steps.observation), keep);
  const totals = createTotals(largest);
  const weights = levelWeights(p);
  const base = p.baseGroup ? baseAdvantages(steps, p, score) : undefined;
  const advantage = new Float64Array(steps.rows);
  for (let g = 0; g + 1 < starts.length; g++) {
    const slice = groupSlice(steps, stepReturn, rowOrder, g);
    loadGroup(levels, slice);
    clearTotals(totals, levels.size, p.weightEpsilon);
    if (base !== undefined) addBase(totals, slice, base, rules.keepZeros);
    for (let level = 0; level <= p.historyLength; level++) {
      if (level > 0) refineGroup(levels, level);
      if (levels.live === 0) break;
      addLevel(levels, totals, rules, weights[level]!);
    }
    settleTotals(totals, slice, advantage);
  }
  return advantage;
}

/** w_0..w_K before normalisation. */
export function levelWeights(
  p: Pick<HgpoParameters, 'historyLength' | 'lengthWeightAlpha' | 'weightOffset'>,
): number[] {
  return Array.from({ length: p.historyLength + 1 }, (_, k) => (k + p.weightOffset) ** p.lengthWeightAlpha);
}

function baseAdvantages(
  steps: StepColumns,
  p: HgpoParameters,
  score: Float64Array | undefined,
): Float64Array {
  if (score === undefined) throw new TypeError('baseGroup needs the scores');
  const { epsilon, epsilonPlace, baseDeviation: deviation, baseSingleton: singleton } = p;
  const normalizeByStd = p.mode === 'mean_std_norm';
  const parameters = {
    normalizeByStd,
    epsilon,
    epsilonPlace,
    deviation,
    singleton,
    statistics: p.baseStatistics,
  };
  return grpo(steps.group, score, parameters, steps.trajectory);
}
