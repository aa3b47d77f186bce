/** What a batch offers to learn from: how much its state keys explain, and which rows carry no signal. */

import { asCollected } from '../format/as-collected.ts';
import { type Batch, stepsOf } from '../format/batch.ts';
import { returnsOf } from '../identify/estimate.ts';
import { GOAL } from '../kernel/graph.ts';
import { idCount } from '../kernel/sets/steps.ts';
import type { KeyStrength, SignalDescription } from '../report/signal-description.ts';

/**
 * Describes a batch with observations and step returns (or rewards), as the rollout collected it. Linear in the rows. Throws a BatchFormatError without
 * these columns.
 */
export function describeSignal(given: Batch, returns = returnsOf(given)): SignalDescription {
  const { batch, value } = rolledOut(given, returns);
  const { rows, group, trajectory, reportedAdvantage: advantage } = batch;
  const step = stepsOf(batch);
  const { observation = new Int32Array(rows) } = batch;
  const own = pairs(group, observation);
  const context = contextsOf(own.ids, trajectory);
  const spread = spreadOf(group, value);
  const strength = (key: string, ids: Ids) => strengthOf(key, meansOf(ids, spread.off), spread);
  const coarse = meansOf(own, spread.off);
  const fine = meansOf(context, spread.off);
  const { size } = coarse;
  const without = groupsWithoutSpread(batch);
  const aimless = groupsWithoutGoal(batch);
  const share = (is: (row: number) => boolean): number => {
    let count = 0;
    for (let row = 0; row < rows; row++) if (is(row)) count++;
    return rows === 0 ? 0 : count / rows;
  };
  return {
    batch: batch.name,
    rows,
    keys: [
      strengthOf('observation', coarse, spread),
      strengthOf('observation and two before', fine, spread),
      strength('observation and step', pairs(own.ids, step)),
      strength('step', pairs(group, step)),
      strength('trajectory', { ids: trajectory, count: idCount('trajectory', trajectory) }),
    ],
    contextInconsistency: inconsistency(size, fine.size),
    contextBias: biasOf({ ...own, ...coarse }, { ...context, ...fine }, spread.off),
    clusterSize: own.ids.reduce((sum, id) => sum + size[id]!, 0) / Math.max(1, rows),
    effectiveTrajectories: effectiveTrajectories(own, size, trajectory),
    shares: {
      advantageZero: advantage === undefined ? null : share((row) => advantage[row] === 0),
      alone: share((row) => size[own.ids[row]!] === 1),
      groupWithoutSpread: without && share((row) => without[group[row]!] === 1),
      penaltyOnly:
        without === null || advantage === undefined
          ? null
          : share((row) => without[group[row]!] === 1 && advantage[row] !== 0),
      groupWithoutGoal: aimless && share((row) => aimless[group[row]!] === 1),
    },
  };
}

/** Share of the rows, and their number, that {@link describeSome} describes at least. */
const [SOME, FEW] = [0.25, 256];

/**
 * As {@link describeSignal}, of whole groups with a quarter of the rows: it runs after every verification, of which it may take a
 * tenth at most.
 */
export function describeSome(given: Batch, returns: Float64Array): SignalDescription {
  const { batch, value } = rolledOut(given, returns);
  const { rows, group, groupNames } = batch;
  const wanted = Math.max(FEW, SOME * rows);
  if (rows <= wanted) return describeSignal(batch, value);
  const size = countsOf({ ids: group, count: groupNames.length });
  let left = wanted;
  const isIn = size.map((n) => {
    const own = left > 0 ? 1 : 0;
    left -= n;
    return own;
  });
  const chosen = new Int32Array(rows);
  let count = 0;
  for (let row = 0; row < rows; row++) if (isIn[group[row]!] === 1) chosen[count++] = row;
  const kept = chosen.subarray(0, count);
  const part = { ...batch, rows: count };
  for (const key of COLUMNS)
    if (batch[key] !== undefined) Object.assign(part, { [key]: picked(batch[key], kept) });
  return describeSignal(part, picked(value, kept));
}

function rolledOut(batch: Batch, value: Float64Array): { batch: Batch; value: Float64Array } {
  const collected = asCollected(batch);
  return collected === undefined
    ? { batch, value }
    : { batch: collected.batch, value: picked(value, collected.rows) };
}

/** The columns of a batch that a description reads. */
const COLUMNS = [
  'group',
  'trajectory',
  'step',
  'observation',
  'nextObservation',
  'reward',
  'reportedAdvantage',
] as const;

function picked<C extends Int32Array | Float64Array>(column: C, rows: Int32Array): C {
  const own = column.slice(0, rows.length) as C;
  for (let i = 0; i < rows.length; i++) own[i] = column[rows[i]!]!;
  return own;
}

/** Dense ids, and how many there are. */
interface Ids {
  readonly ids: Int32Array;
  readonly count: number;
}

/** Dense ids of the pairs of two columns, by a table with open addressing: it runs beside every verification. */
function pairs(one: Int32Array, other: Int32Array): Ids {
  const rows = one.length;
  const mask = 2 ** Math.ceil(Math.log2(Math.max(2, 2 * rows))) - 1;
  const first = new Int32Array(mask + 1).fill(-1);
  const ids = new Int32Array(rows);
  let count = 0;
  for (let row = 0; row < rows; row++) {
    const a = one[row]!;
    const b = other[row]!;
    let at = (Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b)) >>> 0;
    at = (at ^ (at >>> 15)) & mask;
    while (first[at]! >= 0 && (one[first[at]!] !== a || other[first[at]!] !== b)) at = (at + 1) & mask;
    if (first[at]! < 0) {
      first[at] = row;
      ids[row] = count++;
    } else ids[row] = ids[first[at]!]!;
  }
  return { ids, count };
}

/** The observation with the two before it, or as many as the trajectory has. */
function contextsOf(own: Int32Array, trajectory: Int32Array): Ids {
  const before = new Int32Array(own.length);
  const twoBefore = new Int32Array(own.length);
  const latest = new Int32Array(idCount('trajectory', trajectory)).fill(-1);
  for (let row = 0; row < own.length; row++) {
    const previous = latest[trajectory[row]!]!;
    before[row] = previous < 0 ? -1 : own[previous]!;
    twoBefore[row] = previous < 0 ? -1 : before[previous]!;
    latest[trajectory[row]!] = row;
  }
  return pairs(pairs(own, before).ids, twoBefore);
}

function countsOf({ ids, count }: Ids): Int32Array {
  const counts = new Int32Array(count);
  for (const id of ids) counts[id]! += 1;
  return counts;
}

/** Values less the mean of their group, and the sum of their squares. */
interface Spread {
  readonly off: Float64Array;
  readonly squares: number;
  readonly groups: number;
}

function spreadOf(group: Int32Array, value: Float64Array): Spread {
  const count = idCount('group', group);
  const { mean, size } = meansOf({ ids: group, count }, value);
  const off = new Float64Array(value.length);
  let squares = 0;
  for (let row = 0; row < off.length; row++) {
    const x = value[row]! - mean[group[row]!]!;
    off[row] = x;
    squares += x * x;
  }
  return { off, squares, groups: size.reduce((some, n) => some + (n > 0 ? 1 : 0), 0) };
}

/** Mean and size of each set. */
interface Means {
  readonly mean: Float64Array;
  readonly size: Int32Array;
}

function meansOf({ ids, count }: Ids, x: Float64Array): Means {
  const mean = new Float64Array(count);
  const size = new Int32Array(count);
  for (let row = 0; row < ids.length; row++) {
    mean[ids[row]!]! += x[row]!;
    size[ids[row]!]! += 1;
  }
  for (let id = 0; id < count; id++) mean[id]! /= Math.max(1, size[id]!);
  return { mean, size };
}

/** A shuffle inside the groups makes k clusters of n rows explain (k − 1) / (n − 1) of a group, with Beta's deviation. */
function strengthOf(key: string, { mean, size }: Means, { off, squares, groups }: Spread): KeyStrength {
  const clusters = size.reduce((some, n) => some + (n > 0 ? 1 : 0), 0);
  const none = { key, clusters, explained: null, adjusted: null, byChance: null };
  const [n, k] = [off.length - groups, clusters - groups];
  if (!(squares > 0) || n <= k) return none;
  const between = mean.reduce((sum, m, id) => sum + size[id]! * m * m, 0);
  const explained = Math.min(1, between / squares);
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
  const pairsOf = (sizes: Int32Array) => sizes.reduce((total, n) => total + n * (n - 1), 0);
  return pairsOf(coarse) === 0 ? null : 1 - pairsOf(fine) / pairsOf(coarse);
}

/** With no effect of the context, the mean of n_f of n_c rows is off by s² (1/n_f − 1/n_c) in the square: that is subtracted. */
function biasOf(coarse: Ids & Means, fine: Ids & Means, value: Float64Array): number | null {
  const squares = new Float64Array(coarse.count);
  const fineSquares = new Float64Array(fine.count);
  for (let row = 0; row < value.length; row++) {
    const a = coarse.ids[row]!;
    const b = fine.ids[row]!;
    squares[a]! += (value[row]! - coarse.mean[a]!) ** 2;
    fineSquares[b]! += (value[row]! - fine.mean[b]!) ** 2;
  }
  let bias = 0;
  let variance = 0;
  for (let row = 0; row < value.length; row++) {
    const a = coarse.ids[row]!;
    const b = fine.ids[row]!;
    const nc = coarse.size[a]!;
    const nf = fine.size[b]!;
    if (nf < 2) continue;
    bias += (coarse.mean[a]! - fine.mean[b]!) ** 2 - (fineSquares[b]! / (nf - 1)) * (1 / nf - 1 / nc);
    variance += squares[a]! / (nc - 1);
  }
  return variance > 0 ? Math.sqrt(Math.max(0, bias) / variance) : null;
}

function effectiveTrajectories({ ids }: Ids, size: Int32Array, trajectory: Int32Array): number {
  const pair = pairs(ids, trajectory);
  const visits = countsOf(pair);
  const squares = new Float64Array(size.length);
  // A pair of n rows adds n² once, or n for each of its rows.
  for (let row = 0; row < ids.length; row++)
    squares[ids[row]!]! += visits[pair.ids[row]!]! / (size[ids[row]!]! * size[ids[row]!]!);
  let total = 0;
  for (const id of ids) total += 1 / squares[id]!;
  return total / Math.max(1, ids.length);
}

/** 1 for groups in which no step reaches the goal; null if the batch has no next observations. */
function groupsWithoutGoal({ group, groupNames, nextObservation: next }: Batch): Uint8Array | null {
  if (next === undefined) return null;
  const without = new Uint8Array(groupNames.length).fill(1);
  next.forEach((id, row) => {
    if (id === GOAL) without[group[row]!] = 0;
  });
  return without;
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
