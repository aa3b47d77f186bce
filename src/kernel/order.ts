import type { StepColumns } from './steps.ts';
import { checkLength, idCount } from './steps.ts';

/**
 * Rows arranged so that each group is one block, each trajectory one run inside it, in time order.
 * Position p of that arrangement is row `order[p]`; `order` is undefined where the batch already stands so.
 * Block g covers the positions from `starts[g]` to `starts[g + 1]`; `largest` is the size of the largest block.
 */
export interface RowOrder {
  readonly order: Int32Array | undefined;
  readonly starts: Int32Array;
  readonly largest: number;
}

/**
 * Arranges the rows by group and trajectory, stably, in linear time (two counting sorts, none where the rows
 * already stand in order). A trajectory that occurs in two groups is taken as two, as the recipe does.
 */
export function orderRows(steps: Pick<StepColumns, 'rows' | 'group' | 'trajectory'>): RowOrder {
  const { rows, group, trajectory } = steps;
  checkLength('group', group, rows);
  checkLength('trajectory', trajectory, rows);
  const groups = idCount('group', group);
  const trajectories = idCount('trajectory', trajectory);
  const starts = countStarts(group, groups);
  let largest = 0;
  for (let g = 0; g < groups; g++) largest = Math.max(largest, starts[g + 1]! - starts[g]!);
  if (isOrdered(group, trajectory)) return { order: undefined, starts, largest };

  const byTrajectory = scatter(trajectory, countStarts(trajectory, trajectories), undefined);
  return { order: scatter(group, starts.slice(), byTrajectory), starts, largest };
}

function isOrdered(group: Int32Array, trajectory: Int32Array): boolean {
  for (let row = 1; row < group.length; row++) {
    const step = group[row]! - group[row - 1]!;
    if (step < 0 || (step === 0 && trajectory[row]! < trajectory[row - 1]!)) return false;
  }
  return true;
}

function countStarts(keys: Int32Array, count: number): Int32Array {
  const starts = new Int32Array(count + 1);
  for (let row = 0; row < keys.length; row++) starts[keys[row]! + 1]!++;
  for (let key = 0; key < count; key++) starts[key + 1]! += starts[key]!;
  return starts;
}

/** Stable counting sort of `source` (all rows where undefined) by key. Uses up `next`. */
function scatter(keys: Int32Array, next: Int32Array, source: Int32Array | undefined): Int32Array {
  const sorted = new Int32Array(keys.length);
  for (let p = 0; p < keys.length; p++) {
    const row = source === undefined ? p : source[p]!;
    sorted[next[keys[row]!]!++] = row;
  }
  return sorted;
}
