import type { ContextLevels } from './context.ts';
import { createLevels, loadGroup, refineGroup } from './context.ts';
import { orderRows, type RowOrder } from './order.ts';
import type { StepColumns } from './sets/steps.ts';
import { checkHistoryLength, checkLength, idCount } from './sets/steps.ts';

/**
 * One level of the hierarchy: `cluster` holds each row's cluster id (dense, 0..count-1, unique over the batch),
 * -1 if the row has no such level because it stands earlier than `level` steps into its trajectory.
 */
export interface ClusterLevel {
  readonly level: number;
  readonly cluster: Int32Array;
  readonly count: number;
}

/** Entries (rows × levels) that {@link clusterLevels} returns at most: 1 GiB of ids. */
export const MAX_LEVEL_ENTRIES = 2 ** 28;

/**
 * The hierarchical groups of HGPO, for levels 0..historyLength: two rows share a cluster of level k if they
 * are of one group and agree in their own observation and in the k before it. Level k + 1 refines level k.
 * Clusters of one row are listed too. Within a level, ids ascend by group; levels that no row reaches are left
 * out, so the result may be shorter than historyLength + 1 (and is empty for an empty batch).
 *
 * Throws a RangeError on columns of unequal length, negative ids, a history length outside 0..1024, or a result
 * above {@link MAX_LEVEL_ENTRIES}.
 */
export function clusterLevels(steps: StepColumns, historyLength: number): ClusterLevel[] {
  checkHistoryLength(historyLength);
  checkLength('observation', steps.observation, steps.rows);
  const rowOrder = orderRows(steps);
  const { order, starts, largest } = rowOrder;
  checkEntries(steps, rowOrder, historyLength);
  const keep = { keepSingles: true, keepEqual: true };
  const present = createLevels(largest, idCount('observation', steps.observation), keep);
  const { trajectory, observation } = steps;
  const values = new Float64Array(steps.rows);
  const levels: WritableLevel[] = [];
  for (let g = 0; g + 1 < starts.length; g++) {
    const from = starts[g]!;
    loadGroup(present, { trajectory, observation, values, order, from, to: starts[g + 1]! });
    for (let level = 0; level <= historyLength; level++) {
      if (level > 0) refineGroup(present, level);
      if (present.live === 0) break;
      if (level === levels.length) levels.push(openLevel(level, steps.rows));
      writeIds(present, levels[level]!, order, from);
    }
  }
  return levels;
}

interface WritableLevel {
  readonly level: number;
  readonly cluster: Int32Array;
  count: number;
}

function openLevel(level: number, rows: number): WritableLevel {
  return { level, cluster: new Int32Array(rows).fill(-1), count: 0 };
}

/** Throws before anything is allocated. A trajectory of n steps has levels 0 to n - 1. */
function checkEntries(
  { rows, trajectory }: StepColumns,
  { order, starts }: RowOrder,
  historyLength: number,
): void {
  let longest = 0;
  for (let g = 0; g + 1 < starts.length; g++) {
    let length = 0;
    let open = -1;
    for (let position = starts[g]!; position < starts[g + 1]!; position++) {
      const at = trajectory[order === undefined ? position : order[position]!]!;
      length = at === open ? length + 1 : 1;
      open = at;
      if (length > longest) longest = length;
    }
  }
  if (Math.min(historyLength + 1, longest) * rows > MAX_LEVEL_ENTRIES)
    throw new RangeError(`more than ${MAX_LEVEL_ENTRIES} cluster ids: take fewer rows or levels`);
}

function writeIds(
  present: ContextLevels,
  into: WritableLevel,
  order: Int32Array | undefined,
  from: number,
): void {
  const { member, cluster, live } = present;
  for (let j = 0; j < live; j++) {
    const position = from + member[j]!;
    into.cluster[order === undefined ? position : order[position]!] = into.count + cluster[j]!;
  }
  into.count += present.clusters;
}
