/** The sets of rows that the stages of a chain run over, and sums over them. */

import { checkLength, idCount } from './steps.ts';

/** A group of one value: `raw` passes it through (mean 0, deviation 1), `zero` gives 0. */
export type GroupSingleton = 'raw' | 'zero';

/**
 * What a group's mean and deviation run over: all its rows, one row of each trajectory, whose rows have one value (`trajectories`)
 * or of which the first counts (`first-row`), or the mean of its rows, which then all of them have (`trajectory-mean`).
 */
export type GroupStatistics = 'rows' | 'trajectories' | 'first-row' | 'trajectory-mean';

/** The rows that a mean or a deviation runs over, and whether a row counts once or once per response token. */
export interface RowSet {
  readonly over: 'group' | 'batch';
  readonly weight: 'row' | 'token';
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

/** For each row the row that counts in statistics; undefined if each counts itself. Throws a TypeError without trajectories. */
export function standInsOf(
  { statistics }: { readonly statistics?: GroupStatistics },
  { group, trajectory }: { readonly group: Int32Array; readonly trajectory?: Int32Array | undefined },
): Int32Array | undefined {
  return statistics === undefined || statistics === 'rows' ? undefined : representatives(group, trajectory);
}

/** For each row the mean over the rows of its trajectory, float64. Throws a TypeError without trajectories. */
export function trajectoryMeans(x: Float64Array, trajectory: Int32Array | undefined): Float64Array {
  if (trajectory === undefined) throw new TypeError('means of trajectories need the trajectory ids');
  const { mean } = setSums(trajectory, idCount('trajectory', trajectory), x);
  return x.map((_, row) => mean[trajectory[row]!]!);
}

/** The set of each row, -1 for rows that are not counted, and the number of sets. */
export function setIds(
  { over }: RowSet,
  { group }: { readonly group: Int32Array },
  counted: Uint8Array,
): { ids: Int32Array; sets: number } {
  const sets = over === 'batch' ? 1 : idCount('group', group);
  const isWhole = !counted.includes(0);
  if (isWhole && over === 'group') return { ids: group, sets };
  const ids = over === 'batch' ? new Int32Array(group.length) : group.slice();
  if (isWhole) return { ids, sets };
  for (let row = 0; row < ids.length; row++) if (counted[row] === 0) ids[row] = -1;
  return { ids, sets };
}

/** The sets' members that count: -1 for rows for which another row stands in. */
export function membersOf(ids: Int32Array, standIn: Int32Array | undefined): Int32Array {
  return standIn === undefined ? ids : ids.map((id, row) => (standIn[row] === row ? id : -1));
}

/** Sums of the sets of a column. `weight` is the number of rows, or of tokens. */
export interface SetSums {
  readonly rows: Int32Array;
  readonly weight: Float64Array;
  readonly mean: Float64Array;
  readonly squares: Float64Array;
}

/** Two passes in float64. A set of equal values has exactly their mean and no squares. */
export function setSums(ids: Int32Array, sets: number, x: Float64Array, tokens?: Int32Array): SetSums {
  const column = () => new Float64Array(sets);
  const sums = { rows: new Int32Array(sets), weight: column(), mean: column(), squares: column() };
  const { rows, weight, mean, squares } = sums;
  const first = column();
  const mixed = new Uint8Array(sets);
  for (let row = 0; row < ids.length; row++) {
    const set = ids[row]!;
    if (set < 0) continue;
    const w = tokens?.[row] ?? 1;
    if (rows[set]!++ === 0) first[set] = x[row]!;
    else if (x[row] !== first[set]) mixed[set] = 1;
    if (!Number.isFinite(x[row]!)) mixed[set] = 1;
    weight[set]! += w;
    mean[set]! += w === 0 ? 0 : w * x[row]!;
  }
  for (let set = 0; set < sets; set++) mean[set] = mixed[set] === 1 ? mean[set]! / weight[set]! : first[set]!;
  for (let row = 0; row < ids.length; row++) {
    const set = ids[row]!;
    if (set < 0 || mixed[set] === 0) continue;
    const w = tokens?.[row] ?? 1;
    const off = x[row]! - mean[set]!;
    squares[set]! += w === 0 ? 0 : w * off * off;
  }
  return sums;
}

/** The best of the other rows of each row's group: NaN if there is none. */
export function bestOfOthers(ids: Int32Array, sets: number, x: Float64Array): Float64Array {
  const best = new Float64Array(sets).fill(Number.NEGATIVE_INFINITY);
  const second = new Float64Array(sets).fill(Number.NEGATIVE_INFINITY);
  const times = new Int32Array(sets);
  for (let row = 0; row < ids.length; row++) {
    const set = ids[row]!;
    if (set < 0) continue;
    const value = x[row]!;
    if (value > best[set]!) {
      second[set] = best[set]!;
      best[set] = value;
      times[set] = 1;
    } else {
      if (value === best[set]) times[set]! += 1;
      second[set] = Math.max(second[set]!, value);
    }
  }
  return x.map((value, row) => {
    const set = ids[row]!;
    const other = set < 0 ? Number.NaN : value === best[set] && times[set] === 1 ? second[set]! : best[set]!;
    return Number.isFinite(other) ? other : Number.NaN;
  });
}

/** Rows of a group that stages with `others` accept: their work grows with the square of it. */
export const MAX_OTHERS = 8192;

/**
 * Visits each row of a set with the members that count, without its own. Throws a RangeError above {@link MAX_OTHERS} members
 * a set.
 */
export function forEachOthers(
  ids: Int32Array,
  standIn: Int32Array | undefined,
  visit: (row: number, others: readonly number[]) => void,
): void {
  // A set without a row that counts is a hole.
  const members: number[][] = [];
  membersOf(ids, standIn).forEach((set, row) => {
    if (set < 0) return;
    members[set] ??= [];
    members[set].push(row);
  });
  members.forEach(({ length }) => {
    if (length > MAX_OTHERS)
      throw new RangeError(
        `a group has ${length} rows, ${MAX_OTHERS} are allowed for the deviation of the others`,
      );
  });
  ids.forEach((set, row) => {
    if (set < 0) return;
    const own = standIn?.[row] ?? row;
    visit(
      row,
      members[set]!.filter((other) => other !== own),
    );
  });
}
