import { createLevels, groupSlice, loadGroup, refineGroup } from './context.ts';
import type { GroupSingleton, GroupStatistics } from './grpo.ts';
import { grpo } from './grpo.ts';
import { addBase, addLevel, clearTotals, createTotals, settleTotals } from './levels.ts';
import { orderRows } from './order.ts';
import type { Deviation, EpsilonPlace } from './spread.ts';
import type { NormMode, StepColumns } from './steps.ts';
import { checkHistoryLength, checkLength, idCount } from './steps.ts';

/** Everything that changes HGPO's numbers. What is left out is as in the recipe ({@link HGPO_RECIPE}). */
export interface HgpoParameters {
  /** K: how many previous observations must agree as well, 0..1024. */
  readonly historyLength: number;
  readonly mode: NormMode;
  /** α: level k weighs (k + weightOffset)^α. */
  readonly lengthWeightAlpha: number;
  /** Adds the whole group as one more level of weight 1, over `score`. */
  readonly baseGroup: boolean;
  readonly epsilon: number;
  readonly epsilonPlace: EpsilonPlace;
  readonly deviation: Deviation;
  /** A cluster of one row: `drop` contributes nothing, `zero` contributes the advantage 0. */
  readonly singleton: 'drop' | 'zero';
  /** A level whose advantage is exactly 0: `drop` gives its weight to the others, `keep` does not. */
  readonly zero: 'drop' | 'keep';
  /** 2 in the recipe, 1 in the paper. */
  readonly weightOffset: 1 | 2;
  /** Added to the sum of the weights. Left out: `epsilon`, as in the recipe. */
  readonly weightEpsilon: number;
  readonly baseDeviation: Deviation;
  readonly baseSingleton: GroupSingleton;
  readonly baseStatistics: GroupStatistics;
}

/** The values of verl-agent's recipe/hgpo. */
export const HGPO_RECIPE: HgpoParameters = {
  historyLength: 2,
  mode: 'mean_std_norm',
  lengthWeightAlpha: 1,
  baseGroup: false,
  epsilon: 1e-6,
  epsilonPlace: 'added',
  deviation: 'population',
  singleton: 'drop',
  zero: 'drop',
  weightOffset: 2,
  weightEpsilon: 1e-6,
  baseDeviation: 'sample',
  baseSingleton: 'raw',
  baseStatistics: 'rows',
};

/** All parameters of HGPO, what is left out being as in the recipe. */
export function completeHgpo(parameters: Partial<HgpoParameters>): HgpoParameters {
  return { ...HGPO_RECIPE, weightEpsilon: parameters.epsilon ?? HGPO_RECIPE.epsilon, ...parameters };
}

/**
 * HGPO: hierarchy-of-groups policy optimisation (verl-agent, recipe/hgpo/core_hgpo.py).
 *
 *   C_k(i)  rows of i's group that agree with i in the last k + 1 observations, k = 0..min(K, step of i)
 *   a_k(i)  = (G_i − mean C_k) / (std C_k + ε)   or, in mean_norm, G_i − mean C_k
 *   A(i)    = Σ w_k·a_k(i) / (Σ w_k + ε),  w_k = (k + 2)^α, over the levels with |C_k| ≥ 2 and a_k(i) ≠ 0
 *
 * With `baseGroup` the group's own normalised score takes part with weight 1. In: step returns G (and scores),
 * one per row. Out: one advantage per row, float64; 0 where no level is left. A state met twice in one
 * trajectory is two members. A cluster whose returns are all equal has advantage exactly 0; NaN and infinities
 * stay within the clusters that hold them. Throws a RangeError on unequal columns or a bad history length.
 */
export function hgpo(
  steps: StepColumns,
  stepReturn: Float64Array,
  parameters: Partial<HgpoParameters> = {},
  score?: Float64Array,
): Float64Array {
  const p = completeHgpo(parameters);
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
