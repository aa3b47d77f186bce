/** What a batch offers to learn from: how much its state keys explain, and which rows carry no signal. */

import type { Batch } from '../format/batch.ts';
import { clusterLevels } from '../kernel/clusters.ts';
import { setSums } from '../kernel/row-sets.ts';
import { returnsOf } from './estimate.ts';
import { stepsOf } from './explain.ts';

/** How much of the spread of the step returns inside groups the clusters of a key explain. */
export interface KeyStrength {
  readonly key: string;
  readonly clusters: number;
  /** 1 − squares within clusters / squares within groups; null without spread. */
  readonly explained: number | null;
  /** {@link explained} less what as many clusters explain by chance. Negative: less than that. */
  readonly adjusted: number | null;
  /** 95 % of shuffled keys explain between these, by a normal approximation. */
  readonly byChance: readonly [low: number, high: number] | null;
}

/** Describes the signal; it does not predict success. Shares are of all rows. */
export interface SignalDescription {
  readonly batch: string;
  readonly rows: number;
  readonly keys: readonly KeyStrength[];
  /** Share of the pairs in clusters of one observation whose last three observations differ; null without pairs. */
  readonly contextInconsistency: number | null;
  /** Mean size of the cluster of a row. */
  readonly clusterSize: number;
  /** Mean over rows of 1 / Σ (share of a trajectory in the cluster)². */
  readonly effectiveTrajectories: number;
  readonly shares: {
    readonly advantageZero: number | null;
    readonly alone: number;
    /** All rewards of the group are equal before penalties. */
    readonly groupWithoutSpread: number | null;
    /** As that, yet the reported advantage is not 0. */
    readonly penaltyOnly: number | null;
  };
}

/** Rows before a row that its context holds. */
const CONTEXT = 2;

/**
 * Describes a batch with observations and step returns (or rewards). Linear in the rows. Throws a BatchFormatError without
 * these columns.
 */
export function describeSignal(batch: Batch): SignalDescription {
  const { rows, group, trajectory, reportedAdvantage: advantage } = batch;
  const value = returnsOf(batch);
  const step = stepsOf(batch);
  const { observation = new Int32Array(rows) } = batch;
  const keys: readonly (readonly [string, Int32Array])[] = [
    ['observation', paired(group, observation)],
    ['observation and two before', contextsOf(batch, observation)],
    ['observation and step', paired(paired(group, observation), step)],
    ['step', paired(group, step)],
    ['trajectory', paired(group, trajectory)],
  ];
  const own = keys[0]![1];
  const size = countsOf(own);
  const without = groupsWithoutSpread(batch);
  const share = (is: (row: number) => boolean): number => {
    let count = 0;
    for (let row = 0; row < rows; row++) if (is(row)) count++;
    return rows === 0 ? 0 : count / rows;
  };
  return {
    batch: batch.name,
    rows,
    keys: keys.map(([key, ids]) => strengthOf(key, ids, group, value)),
    contextInconsistency: inconsistency(size, countsOf(keys[1]![1])),
    clusterSize: own.reduce((sum, id) => sum + size[id]!, 0) / Math.max(1, rows),
    effectiveTrajectories: effectiveTrajectories(own, size, trajectory),
    shares: {
      advantageZero: advantage === undefined ? null : share((row) => advantage[row] === 0),
      alone: share((row) => size[own[row]!] === 1),
      groupWithoutSpread: without && share((row) => without[group[row]!] === 1),
      penaltyOnly:
        without === null || advantage === undefined
          ? null
          : share((row) => without[group[row]!] === 1 && advantage[row] !== 0),
    },
  };
}

/** Dense ids of the pairs of two columns. */
function paired(one: Int32Array, other: Int32Array): Int32Array {
  const known = new Map<number, number>();
  const span = other.reduce((most, id) => Math.max(most, id), 0) + 1;
  return one.map((id, row) => {
    const key = id * span + other[row]!;
    if (!known.has(key)) known.set(key, known.size);
    return known.get(key)!;
  });
}

/** Clusters of the observation with as many before it, up to {@link CONTEXT}, as the trajectory has. */
function contextsOf({ rows, group, trajectory }: Batch, observation: Int32Array): Int32Array {
  const levels = clusterLevels({ rows, group, trajectory, observation }, CONTEXT);
  const deepest = new Int32Array(rows).fill(-1);
  let offset = 0;
  for (const { cluster, count } of levels) {
    cluster.forEach((id, row) => {
      if (id >= 0) deepest[row] = offset + id;
    });
    offset += count;
  }
  return paired(deepest, new Int32Array(rows));
}

function countsOf(ids: Int32Array): Int32Array {
  const counts = new Int32Array(ids.reduce((most, id) => Math.max(most, id), -1) + 1);
  for (const id of ids) counts[id]! += 1;
  return counts;
}

/** A shuffle inside the groups makes k clusters of n rows explain (k − 1) / (n − 1) of a group, with Beta's deviation. */
function strengthOf(key: string, ids: Int32Array, group: Int32Array, value: Float64Array): KeyStrength {
  const clusters = countsOf(ids).length;
  const none = { key, clusters, explained: null, adjusted: null, byChance: null };
  const sum = (column: Float64Array) => column.reduce((total, x) => total + x, 0);
  const groups = countsOf(group).length;
  const total = sum(setSums(group, groups, value).squares);
  const [n, k] = [value.length - groups, clusters - groups];
  if (!(total > 0) || n <= k) return none;
  const explained = 1 - sum(setSums(ids, clusters, value).squares) / total;
  const chance = k / n;
  const deviation = Math.sqrt((2 * chance * (1 - chance)) / (n + 2));
  return {
    key,
    clusters,
    explained,
    adjusted: 1 - ((1 - explained) * n) / (n - k),
    byChance: [Math.max(0, chance - 1.96 * deviation), chance + 1.96 * deviation],
  };
}

function inconsistency(coarse: Int32Array, fine: Int32Array): number | null {
  const pairs = (sizes: Int32Array) => sizes.reduce((total, n) => total + n * (n - 1), 0);
  return pairs(coarse) === 0 ? null : 1 - pairs(fine) / pairs(coarse);
}

function effectiveTrajectories(ids: Int32Array, size: Int32Array, trajectory: Int32Array): number {
  const pair = paired(ids, trajectory);
  const visits = countsOf(pair);
  const squares = new Float64Array(size.length);
  const seen = new Uint8Array(visits.length);
  pair.forEach((p, row) => {
    if (seen[p] === 0) squares[ids[row]!]! += (visits[p]! / size[ids[row]!]!) ** 2;
    seen[p] = 1;
  });
  return ids.reduce((total, id) => total + 1 / squares[id]!, 0) / Math.max(1, ids.length);
}

/** 1 for groups whose trajectories all have one total reward; null if the batch has no rewards. */
function groupsWithoutSpread({
  reward,
  group,
  groupNames,
  trajectory,
  trajectoryNames,
}: Batch): Uint8Array | null {
  if (reward === undefined) return null;
  const total = new Float64Array(trajectoryNames.length);
  reward.forEach((x, row) => {
    total[trajectory[row]!]! += x;
  });
  const first = new Float64Array(groupNames.length).fill(Number.NaN);
  const without = new Uint8Array(groupNames.length).fill(1);
  group.forEach((g, row) => {
    const own = total[trajectory[row]!]!;
    if (Number.isNaN(first[g]!)) first[g] = own;
    else if (first[g] !== own) without[g] = 0;
  });
  return without;
}
