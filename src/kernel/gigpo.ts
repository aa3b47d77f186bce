import { createLevels, groupSlice, loadGroup } from './context.ts';
import type { GroupSingleton, GroupStatistics } from './grpo.ts';
import { grpo } from './grpo.ts';
import { addLevel, clearTotals, createTotals, settleTotals } from './levels.ts';
import { orderRows } from './order.ts';
import type { Deviation, EpsilonPlace } from './spread.ts';
import type { NormMode, StepColumns } from './steps.ts';
import { checkLength, idCount } from './steps.ts';

/** Everything that changes GiGPO's numbers. What is left out is as in verl-agent ({@link GIGPO_RECIPE}). */
export interface GigpoParameters {
  readonly mode: NormMode;
  /** ω, the weight of the step term. */
  readonly stepAdvantageWeight: number;
  readonly epsilon: number;
  readonly epsilonPlace: EpsilonPlace;
  readonly deviation: Deviation;
  /** The episode term of a group of one row. A step cluster of one row always gives 0. */
  readonly singleton: GroupSingleton;
  /** What the episode term's mean and deviation run over. */
  readonly statistics: GroupStatistics;
}

/** The values of verl-agent's gigpo/core_gigpo.py. */
export const GIGPO_RECIPE: GigpoParameters = {
  mode: 'mean_norm',
  stepAdvantageWeight: 1,
  epsilon: 1e-6,
  epsilonPlace: 'added',
  deviation: 'sample',
  singleton: 'raw',
  statistics: 'rows',
};

/**
 * GiGPO: group-in-group policy optimisation (verl-agent, gigpo/core_gigpo.py).
 *
 *   A(i)      = A_episode(i) + ω·A_step(i)
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
  const p = { ...GIGPO_RECIPE, ...parameters };
  const normalizeByStd = p.mode === 'mean_std_norm';
  const advantage = grpo(steps.group, score, { ...p, normalizeByStd }, steps.trajectory);
  const step = gigpoStepTerm(steps, stepReturn, p);
  for (let row = 0; row < steps.rows; row++) advantage[row]! += p.stepAdvantageWeight * step[row]!;
  return advantage;
}

/** A_step alone, unweighted: parameters, shapes and errors as in {@link gigpo}. */
export function gigpoStepTerm(
  steps: StepColumns,
  stepReturn: Float64Array,
  parameters: Partial<GigpoParameters> = {},
): Float64Array {
  const p = { ...GIGPO_RECIPE, ...parameters };
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
