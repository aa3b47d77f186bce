import { checkLength, idCount } from './steps.ts';

/** A group of one value: `raw` passes it through (mean 0, deviation 1), `zero` gives 0. */
export type GroupSingleton = 'raw' | 'zero';

/** What a group's mean and deviation run over: all its rows, or the first row of each trajectory. */
export type GroupStatistics = 'rows' | 'trajectories';

/** Count, mean and squared distances of each group; `allEqual` if the values are one and the same. */
export interface GroupSums {
  readonly count: Int32Array;
  readonly mean: Float64Array;
  readonly squares: Float64Array;
  readonly first: Float64Array;
  readonly allEqual: Uint8Array;
}

/** Two passes in float64 over the rows that `counted` marks (all if undefined). */
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

/**
 * For each row the first row of its trajectory in its group, which alone counts in statistics over trajectories. Throws a
 * TypeError without trajectories.
 */
export function representatives(group: Int32Array, trajectory: Int32Array | undefined): Int32Array {
  if (trajectory === undefined) throw new TypeError('statistics over trajectories need the trajectory ids');
  checkLength('trajectory', trajectory, group.length);
  const first = new Map<number, number>();
  const trajectories = idCount('trajectory', trajectory);
  return group.map((g, row) => {
    const pair = g * trajectories + trajectory[row]!;
    if (!first.has(pair)) first.set(pair, row);
    return first.get(pair)!;
  });
}

/** Marks the first row of each trajectory in each group. Throws a TypeError without trajectories. */
export function firstRows(group: Int32Array, trajectory: Int32Array | undefined): Uint8Array {
  return Uint8Array.from(representatives(group, trajectory), (first, row) => (first === row ? 1 : 0));
}
