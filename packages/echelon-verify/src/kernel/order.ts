import type { StepColumns } from './sets/steps.ts';
import { checkLength, idCount } from './sets/steps.ts';

/**
 * Rows arranged so that each group is one block, each trajectory one run inside it, in time order.
 * Position p of that arrangement is row `order[p]`; `order` is undefined if the batch already stands so.
 * Block g covers the positions from `starts[g]` to `starts[g + 1]`; `largest` is the size of the largest block.
 */
export interface RowOrder {
  readonly order: Int32Array | undefined;
  readonly starts: Int32Array;
  readonly largest: number;
}

/**
 * Arranges the rows by group and trajectory, stably, in linear time (two counting sorts, none if the rows
 * already stand in order). A trajectory that occurs in two groups is taken as two, as the recipe does.
 */
export function orderRows(steps: Pick<StepColumns, 'rows' | 'group' | 'trajectory'>): RowOrder {
  const { rows, group, trajectory } = steps;
  checkLength('group', group, rows);
  checkLength('trajectory', trajectory, rows);
  const inOrder = startsInOrder(group, trajectory);
  if (inOrder !== undefined) return { order: undefined, starts: inOrder, largest: largestBlock(inOrder) };
  const starts = countStarts(group, idCount('group', group));
  const byTrajectory = scatter(
    trajectory,
    countStarts(trajectory, idCount('trajectory', trajectory)),
    undefined,
  );
  return { order: scatter(group, starts.slice(), byTrajectory), starts, largest: largestBlock(starts) };
}

/** The starts of the groups if the rows already stand in order, else undefined. */
function startsInOrder(group: Int32Array, trajectory: Int32Array): Int32Array | undefined {
  const rows = group.length;
  if (rows === 0) return new Int32Array(1);
  const last = group[rows - 1]!;
  // Ids are dense: in order, the last group has the largest id and there is no more than one group per row.
  if (last < 0 || last >= rows || group[0]! < 0) return undefined;
  const starts = new Int32Array(last + 2);
  let open = group[0]!;
  let highest = trajectory[0]!;
  let negative = highest;
  for (let row = 1; row < rows; row++) {
    const g = group[row]!;
    const t = trajectory[row]!;
    if (g !== open) {
      if (g < open || g > last) return undefined;
      while (open < g) starts[++open] = row;
    } else if (t < highest) return undefined;
    highest = t;
    negative |= t;
  }
  if (negative < 0) return undefined;
  starts[last + 1] = rows;
  return starts;
}

function largestBlock(starts: Int32Array): number {
  let largest = 0;
  for (let g = 0; g + 1 < starts.length; g++) largest = Math.max(largest, starts[g + 1]! - starts[g]!);
  return largest;
}

function countStarts(keys: Int32Array, count: number): Int32Array {
  const starts = new Int32Array(count + 1);
  for (let row = 0; row < keys.length; row++) starts[keys[row]! + 1]!++;
  for (let key = 0; key < count; key++) starts[key + 1]! += starts[key]!;
  return starts;
}

/** Stable counting sort of `source` (all rows if undefined) by key. Uses up `next`. */
function scatter(keys: Int32Array, next: Int32Array, source: Int32Array | undefined): Int32Array {
  const sorted = new Int32Array(keys.length);
  for (let p = 0; p < keys.length; p++) {
    const row = source === undefined ? p : source[p]!;
    sorted[next[keys[row]!]!++] = row;
  }
  return sorted;
}
