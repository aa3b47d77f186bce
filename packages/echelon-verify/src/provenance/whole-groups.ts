/** Part of a batch: some of its groups with all their rows. No estimator looks beyond a group. */

import { pickRows } from '../format/as-collected.ts';
import type { Batch } from '../format/batch.ts';

export interface BatchPart {
  readonly batch: Batch;
  /** The rows of the part, as rows of the whole batch, ascending. */
  readonly rows: Int32Array;
}

/**
 * The groups of `wanted` rows, taken in that order as long as they stay within `maxRows` rows together; groups above
 * are skipped. Undefined if none fits. Linear in the rows.
 */
export function wholeGroups(batch: Batch, wanted: ArrayLike<number>, maxRows: number): BatchPart | undefined {
  const size = new Int32Array(batch.groupNames.length);
  for (const g of batch.group) size[g]! += 1;
  const taken = new Uint8Array(size.length);
  let total = 0;
  for (let i = 0; i < wanted.length && total < maxRows; i++) {
    const g = batch.group[wanted[i]!]!;
    if (taken[g] === 1 || total + size[g]! > maxRows) continue;
    taken[g] = 1;
    total += size[g]!;
  }
  if (total === 0) return undefined;
  const rows = new Int32Array(total);
  let next = 0;
  for (let row = 0; row < batch.rows; row++) if (taken[batch.group[row]!] === 1) rows[next++] = row;
  return { batch: pickRows(batch, rows), rows };
}
