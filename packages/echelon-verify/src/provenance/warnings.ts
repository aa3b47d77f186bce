/** What is poor rather than wrong: data from which an estimator can learn little, or numbers that look like no advantage. */

import { counted } from 'command-kit/plural';
import { asCollected } from '../format/as-collected.ts';
import { type Batch, usesOf } from '../format/batch.ts';
import { GOAL } from '../kernel/graph.ts';
import { idCount } from '../kernel/sets/steps.ts';
import { finding, some } from '../report/findings.ts';
import type { Finding } from '../report/report.ts';

/** Groups below this number of rows say nothing about a drifting mean. */
const MIN_GROUP_ROWS = 8;

/** A group leans if |mean| is above this share of the root mean square of its advantages. */
const LEAN = 0.6;

/** All warnings about the data. Linear in the rows. */
export function findWarnings(batch: Batch): Finding[] {
  if (batch.rows === 0) return [];
  return [
    ...observationWarnings(batch),
    ...groupWarnings(asCollected(batch)?.batch ?? batch),
    ...goalWarnings(batch),
    ...constantAdvantages(batch),
    ...driftingMeans(batch),
  ];
}

function observationWarnings(batch: Batch): Finding[] {
  const { observation, group, rows, estimator, trajectoryNames } = batch;
  if (observation === undefined || !usesOf(estimator).observation) return [];
  if (rows > trajectoryNames.length && neverChanges(batch, observation)) {
    const text = observation.every((id) => id === observation[0])
      ? `All ${counted(rows, 'row')} have the same observation.`
      : `In none of ${counted(trajectoryNames.length, 'trajectory', 'trajectories')} does the observation ever change.`;
    return [finding('observations-constant', text)];
  }
  if (rows < 2 || meetsTwice(group, observation)) return [];
  return [finding('no-state-recurs', `${counted(rows, 'row')}, and no group meets a state twice.`)];
}

function goalWarnings({ group, groupNames, nextObservation, estimator }: Batch): Finding[] {
  if (nextObservation === undefined || usesOf(estimator).nextObservation !== true) return [];
  const isReached = new Uint8Array(groupNames.length);
  nextObservation.forEach((id, row) => {
    if (id === GOAL) isReached[group[row]!] = 1;
  });
  const without = groupNames.filter((_, g) => isReached[g] === 0);
  if (without.length === 0) return [];
  const text = `No success in ${without.length} of ${counted(groupNames.length, 'group')} (${some(without, 3)}).`;
  return [finding('goal-unreached', text)];
}

/** True if a group has two rows of one observation. In most batches one of the first rows shows it. */
function meetsTwice(group: Int32Array, observation: Int32Array): boolean {
  const ids = idCount('observation', observation);
  const seen = new Set<number>();
  for (let row = 0; row < group.length; row++) {
    const state = group[row]! * ids + observation[row]!;
    if (seen.has(state)) return true;
    seen.add(state);
  }
  return false;
}

function neverChanges({ trajectory, trajectoryNames, rows }: Batch, observation: Int32Array): boolean {
  const first = new Int32Array(trajectoryNames.length).fill(-1);
  for (let row = 0; row < rows; row++) {
    const t = trajectory[row]!;
    if (first[t] === -1) first[t] = observation[row]!;
    else if (first[t] !== observation[row]) return false;
  }
  return true;
}

function groupWarnings(batch: Batch): Finding[] {
  const { group, trajectory, groupNames, provenance, rows } = batch;
  const sizes = new Int32Array(groupNames.length);
  const seen = new Uint8Array(batch.trajectoryNames.length);
  for (let row = 0; row < rows; row++) {
    if (seen[trajectory[row]!] === 1) continue;
    seen[trajectory[row]!] = 1;
    sizes[group[row]!]! += 1;
  }
  // An estimator of tokens compares no trajectories.
  const alone = groupNames.filter((_, g) => sizes[g] === 1 && usesOf(batch.estimator).tokens === undefined);
  const findings: Finding[] = [];
  if (alone.length > 0) {
    const text = `${counted(alone.length, 'group')} of ${groupNames.length} with a single trajectory (${some(alone, 3)}).`;
    findings.push(finding('groups-of-one', text));
  }
  const least = sizes.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const most = sizes.reduce((a, b) => Math.max(a, b), 0);
  if (provenance?.groupSize === undefined && least < most) {
    const text = `Groups have from ${least} to ${most} trajectories, and no group size is stated.`;
    findings.push(finding('group-sizes-differ', text));
  }
  return [...findings, ...differentStarts(batch)];
}

/**
 * Groups whose trajectories start apart, if starts recur at all. In an environment that begins with what a person
 * or a model says, hardly two starts are alike, and that they differ says nothing.
 */
function differentStarts({ group, trajectory, observation, groupNames, rows, ...batch }: Batch): Finding[] {
  if (observation === undefined) return [];
  const start = new Int32Array(groupNames.length).fill(-1);
  const seen = new Uint8Array(batch.trajectoryNames.length);
  const distinct = new Set<number>();
  const differ = new Set<number>();
  let trajectories = 0;
  for (let row = 0; row < rows; row++) {
    if (seen[trajectory[row]!] === 1) continue;
    seen[trajectory[row]!] = 1;
    trajectories += 1;
    distinct.add(observation[row]!);
    const g = group[row]!;
    if (start[g] === -1) start[g] = observation[row]!;
    else if (start[g] !== observation[row]) differ.add(g);
  }
  if (differ.size === 0 || 2 * distinct.size > trajectories) return [];
  const names = [...differ].map((g) => groupNames[g]!);
  const text = `${counted(trajectories, 'trajectory', 'trajectories')} start from ${counted(distinct.size, 'observation')}, but those of ${counted(differ.size, 'group')} from more than one (${some(names, 3)}).`;
  return [finding('group-starts-differ', text)];
}

/** Step-wise estimators give each step its own number; a trajectory-wise number in all of them is another estimator. */
function constantAdvantages(batch: Batch): Finding[] {
  const { reportedAdvantage: advantage, trajectory, estimator, rows } = batch;
  if (advantage === undefined || !usesOf(estimator).stepwise) return [];
  const first = new Float64Array(batch.trajectoryNames.length).fill(Number.NaN);
  let repeated = 0;
  let signal = false;
  for (let row = 0; row < rows; row++) {
    const t = trajectory[row]!;
    const a = advantage[row]!;
    if (a !== 0) signal = true;
    if (Number.isNaN(first[t]!)) first[t] = a;
    else if (first[t] !== a) return [];
    else repeated++;
  }
  if (!signal || repeated < 4) return [];
  return [finding('advantage-constant', 'Every trajectory has one advantage for all its steps.')];
}

function driftingMeans(batch: Batch): Finding[] {
  const { reportedAdvantage: advantage, group, groupNames, rows } = batch;
  if (advantage === undefined) return [];
  const sum = new Float64Array(groupNames.length);
  const squares = new Float64Array(groupNames.length);
  const size = new Int32Array(groupNames.length);
  for (let row = 0; row < rows; row++) {
    const a = advantage[row]!;
    if (a === 0 || !Number.isFinite(a)) continue;
    sum[group[row]!]! += a;
    squares[group[row]!]! += a * a;
    size[group[row]!]! += 1;
  }
  let large = 0;
  const leaning: string[] = [];
  for (let g = 0; g < groupNames.length; g++) {
    if (size[g]! < MIN_GROUP_ROWS) continue;
    large++;
    if (Math.abs(sum[g]!) / size[g]! > LEAN * Math.sqrt(squares[g]! / size[g]!)) leaning.push(groupNames[g]!);
  }
  if (leaning.length === 0 || leaning.length * 2 < large) return [];
  const text = `In ${leaning.length} of ${counted(large, 'group')} the mean advantage is far from 0 (${some(leaning, 3)}).`;
  return [finding('group-mean-drift', text)];
}
