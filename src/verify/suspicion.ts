/** What is poor rather than wrong: data from which an estimator can learn little, or numbers that look like no advantage. */

import type { Batch } from './batch.ts';
import { count, finding, some } from './findings.ts';
import type { Finding } from './report.ts';

/** Groups below this number of rows say nothing about a drifting mean. */
const MIN_GROUP_ROWS = 8;

/** A group leans where |mean| is above this share of the root mean square of its advantages. */
const LEAN = 0.6;

/** All warnings about the data. Linear in the rows. */
export function findSuspicions(batch: Batch): Finding[] {
  if (batch.rows === 0) return [];
  return [
    ...observationWarnings(batch),
    ...groupWarnings(batch),
    ...constantAdvantages(batch),
    ...driftingMeans(batch),
  ];
}

function observationWarnings(batch: Batch): Finding[] {
  const { observation, group, rows, estimator, trajectoryNames } = batch;
  if (observation === undefined || (estimator.name !== 'hgpo' && estimator.name !== 'gigpo')) return [];
  const distinct = new Set(observation).size;
  if (distinct === 1 && rows > trajectoryNames.length) {
    return [finding('observations-constant', `All ${count(rows, 'row')} have the same observation.`)];
  }
  const seen = new Set<number>();
  for (let row = 0; row < rows; row++) seen.add(group[row]! * distinct + observation[row]!);
  if (seen.size < rows || rows < 2) return [];
  return [finding('no-state-recurs', `${count(rows, 'row')}, and no group meets a state twice.`)];
}

function groupWarnings(batch: Batch): Finding[] {
  const { group, trajectory, observation, groupNames, rows } = batch;
  const sizes = new Int32Array(groupNames.length);
  const start = new Int32Array(groupNames.length).fill(-1);
  const seen = new Uint8Array(batch.trajectoryNames.length);
  const differ = new Set<number>();
  for (let row = 0; row < rows; row++) {
    if (seen[trajectory[row]!] === 1) continue;
    seen[trajectory[row]!] = 1;
    const g = group[row]!;
    sizes[g]! += 1;
    if (observation === undefined) continue;
    if (start[g] === -1) start[g] = observation[row]!;
    else if (start[g] !== observation[row]) differ.add(g);
  }
  const alone = groupNames.filter((_, g) => sizes[g] === 1);
  const findings: Finding[] = [];
  if (alone.length > 0) {
    const text = `${count(alone.length, 'group')} of ${groupNames.length} with a single trajectory (${some(alone, 3)}).`;
    findings.push(finding('groups-of-one', text));
  }
  if (differ.size > 0) {
    const names = [...differ].map((g) => groupNames[g]!);
    const text = `${count(differ.size, 'group')} of ${groupNames.length} with different first observations (${some(names, 3)}).`;
    findings.push(finding('group-starts-differ', text));
  }
  return findings;
}

/** Step-wise estimators give each step its own number; a trajectory-wise number in all of them is another estimator. */
function constantAdvantages(batch: Batch): Finding[] {
  const { reportedAdvantage: advantage, trajectory, estimator, rows } = batch;
  const stepwise =
    estimator.name === 'hgpo' || (estimator.name === 'gigpo' && estimator.stepAdvantageWeight !== 0);
  if (advantage === undefined || !stepwise) return [];
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
  const text = `In ${leaning.length} of ${count(large, 'group')} the advantages lean to one side (${some(leaning, 3)}).`;
  return [finding('group-mean-drift', text)];
}
