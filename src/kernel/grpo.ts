import type { Deviation, EpsilonPlace, Spread } from './spread.ts';
import { divisor } from './spread.ts';
import { checkLength, idCount } from './steps.ts';

/** A group of one value: `raw` passes it through (mean 0, deviation 1), `zero` gives 0. */
export type GroupSingleton = 'raw' | 'zero';

/** What a group's mean and deviation run over: all its rows, or the first row of each trajectory. */
export type GroupStatistics = 'rows' | 'trajectories';

/** Everything that changes GRPO's numbers. What is left out is as in verl-agent ({@link GRPO_RECIPE}). */
export interface GrpoParameters {
  readonly normalizeByStd: boolean;
  readonly epsilon: number;
  readonly epsilonPlace: EpsilonPlace;
  readonly deviation: Deviation;
  readonly singleton: GroupSingleton;
  readonly statistics: GroupStatistics;
  /** `leave-one-out` compares each row with the mean and deviation of the others. */
  readonly baseline: 'group' | 'leave-one-out';
}

/** The values of verl-agent's verl/trainer/ppo/core_algos.py. */
export const GRPO_RECIPE: GrpoParameters = {
  normalizeByStd: true,
  epsilon: 1e-6,
  epsilonPlace: 'added',
  deviation: 'sample',
  singleton: 'raw',
  statistics: 'rows',
  baseline: 'group',
};

/**
 * GRPO: group-relative policy optimisation (verl-agent, verl/trainer/ppo/core_algos.py).
 *
 *   A(i) = (S_i − mean S) / (std S + ε), or S_i − mean S without `normalizeByStd`, over the rows of i's group
 *
 * In: group ids and scores, one per row; with `statistics: 'trajectories'` the trajectory ids too. Out: one
 * advantage per row, float64. A group of one value gives S_i / (1 + ε) by `raw`; scores that are all equal give
 * exactly 0. Throws a RangeError on unequal columns, a TypeError where trajectories are needed and missing.
 */
export function grpo(
  group: Int32Array,
  score: Float64Array,
  parameters: Partial<GrpoParameters> = {},
  trajectory?: Int32Array,
): Float64Array {
  const p = { ...GRPO_RECIPE, ...parameters };
  checkLength('score', score, group.length);
  const counted = p.statistics === 'trajectories' ? firstRows(group, trajectory) : undefined;
  const sums = groupSums(group, score, counted);
  const advantage = new Float64Array(group.length);
  for (let row = 0; row < group.length; row++) {
    const g = group[row]!;
    const s = score[row]!;
    if (sums.count[g] === 1) advantage[row] = p.singleton === 'zero' ? 0 : alone(s, p);
    else if (p.baseline === 'group')
      advantage[row] = sums.allEqual[g] ? s - sums.first[g]! : centred(s, g, sums, p);
    else advantage[row] = againstOthers(s, g, sums, p);
  }
  return advantage;
}

/** Count, mean and squared distances of each group; `allEqual` where the values are one and the same. */
export interface GroupSums {
  readonly count: Int32Array;
  readonly mean: Float64Array;
  readonly squares: Float64Array;
  readonly first: Float64Array;
  readonly allEqual: Uint8Array;
}

/** Two passes in float64 over the rows that `counted` marks (all where undefined). */
export function groupSums(group: Int32Array, score: Float64Array, counted?: Uint8Array): GroupSums {
  const groups = idCount('group', group);
  const count = new Int32Array(groups);
  const mean = new Float64Array(groups);
  const squares = new Float64Array(groups);
  const first = new Float64Array(groups);
  const allEqual = new Uint8Array(groups);
  for (let row = 0; row < group.length; row++) {
    if (counted !== undefined && counted[row] === 0) continue;
    const g = group[row]!;
    const s = score[row]!;
    if (count[g]!++ === 0) {
      first[g] = s;
      allEqual[g] = Number.isFinite(s) ? 1 : 0;
    } else if (s !== first[g]) allEqual[g] = 0;
    mean[g]! += s;
  }
  for (let g = 0; g < groups; g++) mean[g] = allEqual[g] ? first[g]! : mean[g]! / count[g]!;
  for (let row = 0; row < group.length; row++) {
    if (counted !== undefined && counted[row] === 0) continue;
    const off = score[row]! - mean[group[row]!]!;
    squares[group[row]!]! += off * off;
  }
  return { count, mean, squares, first, allEqual };
}

/** Marks the first row of each trajectory in each group. Throws a TypeError without trajectories. */
export function firstRows(group: Int32Array, trajectory: Int32Array | undefined): Uint8Array {
  if (trajectory === undefined) throw new TypeError('statistics over trajectories need the trajectory ids');
  checkLength('trajectory', trajectory, group.length);
  const seen = new Set<number>();
  const counted = new Uint8Array(group.length);
  const trajectories = idCount('trajectory', trajectory);
  for (let row = 0; row < group.length; row++) {
    const pair = group[row]! * trajectories + trajectory[row]!;
    if (seen.has(pair)) continue;
    seen.add(pair);
    counted[row] = 1;
  }
  return counted;
}

function alone(s: number, p: GrpoParameters): number {
  return p.normalizeByStd ? s / divisor({ ...p, deviation: 'population' }, 1, 1) : s;
}

function centred(s: number, g: number, sums: GroupSums, p: GrpoParameters): number {
  const off = s - sums.mean[g]!;
  return p.normalizeByStd ? off / divisor(p, sums.squares[g]!, sums.count[g]!) : off;
}

function againstOthers(s: number, g: number, sums: GroupSums, p: GrpoParameters): number {
  const n = sums.count[g]!;
  const off = ((s - sums.mean[g]!) * n) / (n - 1);
  if (!p.normalizeByStd || off === 0) return off;
  // Σ over the others of the squared distance from their own mean; never below 0 but for rounding.
  const squares = Math.max(0, sums.squares[g]! - (s - sums.mean[g]!) * off);
  const others: Spread = n === 2 ? { ...p, deviation: 'population' } : p;
  return off / divisor(others, squares, n - 1);
}
