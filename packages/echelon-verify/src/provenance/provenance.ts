/**
 * Are the rows the right ones, complete, once each, in order, in the right groups? Recomputing cannot tell: a batch
 * that was shuffled before the estimator agrees with itself. Every check is linear in the rows.
 */

import { counted } from 'command-kit/plural';
import { type Inputs, mismatchedReturns } from '../bounds/inputs.ts';
import { batchReturnBounds } from '../bounds/return-bounds.ts';
import { mismatchedScores } from '../bounds/score-bounds.ts';
import { asCollected } from '../format/as-collected.ts';
import { type Batch, usesOf } from '../format/batch.ts';
import { GOAL } from '../kernel/graph.ts';
import type { MissingRule } from '../kernel/stages/stage.ts';
import { TOKEN_COLUMNS } from '../kernel/stages/token-sequences.ts';
import { finding, some } from '../report/findings.ts';
import type { Finding } from '../report/report.ts';

/** All findings on identity, order, completeness and consistency of the rows. */
export function checkProvenance(batch: Batch, inputs: Inputs): Finding[] {
  const collected = asCollected(batch);
  const own = collected?.batch ?? batch;
  const ofRows = [...checkCounts(own), ...checkGroups(own), ...checkSteps(own), ...checkTransitions(own)];
  return [
    ...(collected === undefined
      ? ofRows
      : ofRows.map((one) => ({ ...one, rows: one.rows.map((row) => collected.rows[row]!) }))),
    ...checkFinite(batch),
    ...checkReturns(batch, inputs),
    ...checkScores(batch, inputs),
  ];
}

function checkCounts({ rows, provenance, groupNames }: Batch): Finding[] {
  const findings: Finding[] = [];
  if (rows === 0) findings.push(finding('batch-empty', 'The batch has no rows.'));
  const collected = provenance?.rowsCollected ?? rows;
  if (rows < collected) {
    const text = `The rollout collected ${counted(collected, 'row')}, the batch holds ${counted(rows, 'row')}.`;
    findings.push(finding('rows-missing', text));
  }
  if (rows > collected) {
    const text = `The rollout collected ${counted(collected, 'row')}, the batch holds ${counted(rows, 'row')}.`;
    findings.push(finding('rows-surplus', text));
  }
  const groups = provenance?.groups ?? groupNames.length;
  if (groups !== groupNames.length) {
    const text = `${counted(groups, 'group')} stated, ${counted(groupNames.length, 'group')} in the batch.`;
    findings.push(finding('group-count', text));
  }
  return findings;
}

function checkFinite(batch: Batch): Finding[] {
  const columns = [
    ['reward', batch.reward],
    ['reported.stepReward', batch.reportedStepReward],
    ['tokenLevelRewardSum', batch.tokenLevelRewardSum],
    ['rewardBaseline', batch.rewardBaseline],
    ...TOKEN_COLUMNS.map((name) => [`tokens.${name}`, rowsOfTokens(batch, batch.tokens?.[name])] as const),
  ] as const;
  return columns.flatMap(([name, column]) => {
    if (column === undefined || allFinite(column)) return [];
    const isScore = column === batch.tokenLevelRewardSum;
    // A reward that is the score of its row, said once.
    if (isScore && name !== 'tokenLevelRewardSum') return [];
    const rows: number[] = [];
    const unscored: number[] = [];
    column.forEach((x, row) => {
      if (Number.isNaN(x) && isScore && missingRule(batch) !== 'propagate') unscored.push(row);
      else if (!Number.isFinite(x)) rows.push(row);
    });
    const text = `${name} is NaN or infinite in ${counted(rows.length, 'row')}.`;
    return [
      ...(rows.length > 0 ? [finding('non-finite-input', text, rows)] : []),
      ...(unscored.length > 0 ? unscoredFindings(batch, unscored) : []),
    ];
  });
}

function unscoredFindings(batch: Batch, rows: readonly number[]): Finding[] {
  const text = `No reward function scored ${counted(rows.length, 'row')}.`;
  if (missingRule(batch) === 'zero')
    return [finding('rows-unscorable', `${text} They count as reward 0.`, rows)];
  const { reportedAdvantage: reported } = batch;
  const moved = rows.filter((row) => reported !== undefined && reported[row] !== 0);
  if (moved.length === 0) return [finding('rows-unscorable', text, rows)];
  const more = `${text} ${counted(moved.length, 'row')} of them have an advantage, row ${moved[0]} ${reported?.[moved[0]!]}.`;
  return [finding('unscorable-rewarded', more, moved)];
}

function allFinite(column: Float64Array): boolean {
  let sum = 0;
  for (let row = 0; row < column.length; row++) sum += 0 * column[row]!;
  return sum === 0;
}

/** One number per row that is NaN if a token of its mask is NaN or infinite, else 0. */
function rowsOfTokens({ tokens }: Batch, column: Float64Array | undefined): Float64Array | undefined {
  if (tokens === undefined || column === undefined) return undefined;
  const { offset, mask } = tokens;
  const rows = new Float64Array(offset.length - 1);
  for (let row = 0; row < rows.length; row++) {
    for (let t = offset[row]!; t < offset[row + 1]!; t++)
      if (mask?.[t] !== 0 && !Number.isFinite(column[t]!)) rows[row] = Number.NaN;
  }
  return rows;
}

/** What the estimator makes of a score of NaN. */
function missingRule({ estimator: { params } }: Batch): MissingRule {
  return 'missing' in params ? (params.missing as MissingRule) : 'propagate';
}

function checkGroups(batch: Batch): Finding[] {
  const { trajectory, group, groupNames, trajectoryNames, provenance } = batch;
  const owner = new Int32Array(trajectoryNames.length).fill(-1);
  const sizes = new Int32Array(groupNames.length);
  const strays: number[] = [];
  for (let row = 0; row < batch.rows; row++) {
    const t = trajectory[row]!;
    const g = group[row]!;
    if (owner[t] === -1) {
      owner[t] = g;
      sizes[g]! += 1;
    } else if (owner[t] !== g) strays.push(row);
  }
  const findings: Finding[] = [];
  if (strays.length > 0) {
    const names = distinct(strays, (row) => trajectoryNames[trajectory[row]!]!);
    const text = `${counted(names.length, 'trajectory', 'trajectories')} (${some(names, 3)}) in more than one group.`;
    findings.push(finding('trajectory-in-two-groups', text, strays));
  }
  if (trajectoryNames.length > 1 && owner.every((g, t) => g >= 0 && groupNames[g] === trajectoryNames[t])) {
    const text = `All ${counted(groupNames.length, 'group')} are named like their only trajectory.`;
    findings.push(finding('grouped-by-trajectory', text));
  }
  const stated = provenance?.groupSize;
  if (stated === undefined) return findings;
  const off = groupNames.flatMap((name, g) => (sizes[g] === stated ? [] : [`${name} has ${sizes[g]}`]));
  if (off.length > 0) {
    const text = `${counted(stated, 'trajectory', 'trajectories')} per group stated, but not in ${counted(off.length, 'group')}: ${some(off, 3)}.`;
    findings.push(finding('group-size', text));
  }
  return findings;
}

function checkSteps(batch: Batch): Finding[] {
  const { step, trajectory, trajectoryNames, rows } = batch;
  if (step === undefined) {
    return hasOneRowEach(batch) ? [] : [finding('steps-unstated', 'The rows carry no step numbers.')];
  }
  const expected = new Int32Array(trajectoryNames.length);
  const irregular = new Set<number>();
  for (let row = 0; row < rows; row++) {
    const t = trajectory[row]!;
    if (step[row] !== expected[t]) irregular.add(t);
    expected[t]! += 1;
  }
  if (irregular.size === 0) return [];
  return irregularSteps(batch, step, irregular);
}

/** True if no trajectory has two rows, so that no order is unchecked. */
function hasOneRowEach({ trajectory, trajectoryNames }: Batch): boolean {
  const seen = new Uint8Array(trajectoryNames.length);
  return trajectory.every((t) => seen[t]!++ === 0);
}

function irregularSteps(batch: Batch, step: Int32Array, irregular: ReadonlySet<number>): Finding[] {
  const rowsOf = new Map<number, number[]>([...irregular].map((t) => [t, []]));
  for (let row = 0; row < batch.rows; row++) rowsOf.get(batch.trajectory[row]!)?.push(row);
  const duplicated: number[] = [];
  const disordered: number[] = [];
  const gaps: string[] = [];
  const gapRows: number[] = [];
  for (const [t, rows] of rowsOf) {
    const seen = new Set<number>();
    let latest = -1;
    for (const row of rows) {
      const s = step[row]!;
      if (seen.has(s)) duplicated.push(row);
      else if (s < latest) disordered.push(row);
      seen.add(s);
      latest = Math.max(latest, s);
    }
    if (seen.size === latest + 1 && !seen.has(-1)) continue;
    gapRows.push(rows[0]!);
    gaps.push(`${batch.trajectoryNames[t]} lacks step ${firstMissing(seen)}`);
  }
  const findings: Finding[] = [];
  const named = (rows: number[]): string =>
    some(
      distinct(rows, (r) => batch.trajectoryNames[batch.trajectory[r]!]!),
      3,
    );
  if (duplicated.length > 0) {
    const text = `${counted(duplicated.length, 'row')} repeat a step of their trajectory (${named(duplicated)}).`;
    findings.push(finding('row-duplicated', text, duplicated));
  }
  if (disordered.length > 0) {
    const text = `${counted(disordered.length, 'row')} stand behind a later step of their trajectory (${named(disordered)}).`;
    findings.push(finding('steps-out-of-order', text, disordered));
  }
  if (gaps.length > 0) {
    const text = `${counted(gaps.length, 'trajectory', 'trajectories')} with steps missing: ${some(gaps, 3)}.`;
    findings.push(finding('step-gap', text, gapRows));
  }
  return findings;
}

function firstMissing(seen: ReadonlySet<number>): number {
  let step = 0;
  while (seen.has(step)) step++;
  return step;
}

/** The next observation of a step is the observation of the following one; only the last step of a success reaches the goal. */
function checkTransitions(batch: Batch): Finding[] {
  const { observation, nextObservation: next, trajectory, trajectoryNames, reward, rows } = batch;
  if (next === undefined || observation === undefined) return [];
  const following = new Int32Array(trajectoryNames.length).fill(-1);
  const total = new Float64Array(trajectoryNames.length);
  for (let row = 0; row < rows; row++) total[trajectory[row]!]! += reward?.[row] ?? 0;
  const off: number[] = [];
  for (let row = rows - 1; row >= 0; row--) {
    const t = trajectory[row]!;
    const after = following[t]!;
    const isLast = after === -1;
    const isWrongEnd = isLast && reward !== undefined && (next[row] === GOAL) !== total[t]! > 0;
    if (isWrongEnd || (!isLast && next[row] !== observation[after])) off.push(row);
    following[t] = row;
  }
  if (off.length === 0) return [];
  off.reverse();
  const text = `${counted(off.length, 'row')} lead elsewhere than to the next step of their trajectory, or end a success without the goal or a failure at it.`;
  return [finding('transition-mismatch', text, off)];
}

function checkReturns(batch: Batch, inputs: Inputs): Finding[] {
  const { reportedStepReward: reported, estimator, rows } = batch;
  if (reported === undefined || rows === 0) return [];
  if (inputs.recomputed === undefined) {
    return [finding('returns-unchecked', 'The reported step returns could not be checked against rewards.')];
  }
  const off = mismatchedReturns(reported, inputs.recomputed, inputs.arithmetic);
  if (off.length === 0) return [];
  const row = off[0]!;
  const source = usesOf(estimator).nextObservation === true ? 'distances to the goal' : 'rewards';
  const text = `${counted(off.length, 'reported return')} do not come from the ${source} with gamma ${estimator.gamma} and penalty ${estimator.invalidActionPenalty}: row ${row} reports ${reported[row]}, the ${source} give ${inputs.recomputed.stepReturn[row]}.${returnCause(batch, inputs.arithmetic)}`;
  return [finding('returns-mismatch', text, off)];
}

/** Another rule that gives every reported return, in words. */
function returnCause(batch: Batch, arithmetic: Inputs['arithmetic']): string {
  const { estimator, reportedStepReward: reported } = batch;
  const distances = usesOf(estimator).goalReturns === undefined ? [] : ['absolute', 'progress', 'with-cost'];
  const tried: { text: string; changes: Partial<Batch['estimator']> }[] = [
    { text: 'no penalty', changes: { invalidActionPenalty: 0 } },
    ...[0.95, 1, 0.1, 0.2, 0.8].map((gamma) => ({ text: `gamma ${gamma}`, changes: { gamma } })),
    ...distances.map((distance) => ({
      text: `distance ${distance}`,
      changes: { params: { ...estimator.params, distance } as never },
    })),
  ];
  const found = tried.find(({ changes }) => {
    const bounds = batchReturnBounds({ ...batch, estimator: { ...estimator, ...changes } }, arithmetic);
    return bounds !== undefined && mismatchedReturns(reported!, bounds, arithmetic).length === 0;
  });
  return found === undefined ? '' : ` Likely cause: ${found.text}.`;
}

function checkScores(batch: Batch, inputs: Inputs): Finding[] {
  const { tokenLevelRewardSum: score, rows } = batch;
  if (score === undefined || rows === 0) return [];
  const off = mismatchedScores(batch, inputs.arithmetic);
  if (off === undefined) {
    return usesOf(batch.estimator).score
      ? [finding('scores-unchecked', 'The scores could not be checked against rewards.')]
      : [];
  }
  if (off.rows.length === 0) return [];
  const row = off.rows[0]!;
  const text = `${counted(off.rows.length, 'score')} are not the rewards of the trajectory less the row’s penalty: row ${row} has ${score[row]}, the rewards give ${off.expected[row]}.`;
  return [finding('score-mismatch', text, off.rows)];
}

function distinct(rows: readonly number[], name: (row: number) => string): string[] {
  return [...new Set(rows.map(name))];
}
