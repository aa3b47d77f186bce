import { orderRows } from './order.ts';
import type { Refiner } from './refine.ts';
import { createRefiner, loadGroup, refineGroup } from './refine.ts';
import type { StepColumns } from './steps.ts';
import { checkHistoryLength, checkLength, idCount } from './steps.ts';

/**
 * One level of the hierarchy: `cluster` holds each row's cluster id (dense, 0..count-1, unique over the batch),
 * -1 where the row has no such level because it stands earlier than `level` steps into its trajectory.
 */
export interface ClusterLevel {
  readonly level: number;
  readonly cluster: Int32Array;
  readonly count: number;
}

/** Entries (rows × levels) that {@link clusterLevels} returns at most: 1 GiB of ids. */
export const MAX_LEVEL_ENTRIES = 2 ** 28;

/**
 * The hierarchical groups of HGPO, for levels 0..historyLength: two rows share a cluster of level k where they
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
  const { order, starts, largest } = orderRows(steps);
  const refiner = createRefiner(largest, idCount('observation', steps.observation), true);
  const levels: { level: number; cluster: Int32Array; count: number }[] = [];
  for (let g = 0; g + 1 < starts.length; g++) {
    const from = starts[g]!;
    const to = starts[g + 1]!;
    if (from === to) continue;
    loadGroup(refiner, { trajectory: steps.trajectory, observation: steps.observation, order, from, to });
    for (let level = 0; level <= historyLength; level++) {
      if (level > 0) refineGroup(refiner, level);
      if (refiner.clusters === 0) break;
      if (level === levels.length) {
        if ((level + 1) * steps.rows > MAX_LEVEL_ENTRIES) {
          throw new RangeError(`more than ${MAX_LEVEL_ENTRIES} cluster ids: fewer rows or levels, please`);
        }
        levels.push({ level, cluster: new Int32Array(steps.rows).fill(-1), count: 0 });
      }
      const into = levels[level]!;
      writeIds(refiner, into, order, from);
      into.count += refiner.clusters;
    }
  }
  return levels;
}

function writeIds(
  refiner: Refiner,
  into: { cluster: Int32Array; count: number },
  order: Int32Array | undefined,
  from: number,
): void {
  const { members, starts, clusters } = refiner;
  for (let c = 0; c < clusters; c++) {
    for (let j = starts[c]!; j < starts[c + 1]!; j++) {
      const position = from + members[j]!;
      into.cluster[order === undefined ? position : order[position]!] = into.count + c;
    }
  }
}
