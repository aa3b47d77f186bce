/**
 * Why a row has the advantage it has: its clusters level by level with their members, what was dropped and why, the
 * aggregate, and what the trainer's arithmetic can give. Plain JSON; explain-text.ts makes it readable.
 */

import { cut, MAX_STATE_CHARACTERS } from 'command-kit/cut';
import type { Forms, Precision } from '../arithmetic/arithmetic.ts';
import { present } from '../base/present.ts';
import { hull } from '../bounds/admissible.ts';
import { judgeRow } from '../bounds/judged-row.ts';
import { createJudge, type Judge } from '../bounds/outcomes.ts';
import type { ModelLevel, RowModel } from '../bounds/row-model.ts';
import { type DropReason, sharesOf, type TruePart, truePart } from '../bounds/true-part.ts';
import {
  type Batch,
  batchFingerprint,
  isPerToken,
  reportedValues,
  stepsOf,
  usesOf,
} from '../format/batch.ts';
import type { Norm } from '../kernel/estimators/estimator.ts';
import { GOAL, type GoalDistances, goalDistances, goalPath, type Transitions } from '../kernel/graph.ts';
import { stageText } from '../kernel/stages/table.ts';
import type { RowOutcome } from '../report/report.ts';
import { findLikelyCause } from './likely-cause.ts';

/** Members listed per level at most; `size` holds the full number. */
export const MAX_MEMBERS = 200;

export interface ExplainedMember {
  row: number;
  trajectory: string;
  step: number;
  /** Null if it is not finite. */
  value: number | null;
}

export interface ExplainedLevel {
  /** k; -1 for the part over the whole group, -2 for one over a column that the estimator derives. */
  level: number;
  /** What the members have in common, in words. */
  title: string;
  /** What the values are: `return`, `score`, or the name of a derived column. */
  valueName: string;
  /** The row's own value. */
  own: number | null;
  /** The observations the members share, the row's own first, then back in time. */
  states: string[];
  size: number;
  members: ExplainedMember[];
  /** Null if it is not finite, as below. */
  mean: number | null;
  norm: Norm;
  /** Null if the estimator does not divide. */
  deviation: number | null;
  epsilon: number;
  /** The row's advantage within this level, in float64. */
  advantage: number | null;
  /** What the trainer's arithmetic can make of it. */
  interval: { low: number; high: number } | null;
  /** Coefficient before normalisation. */
  weight: number;
  /** Coefficient in the aggregate; 0 if dropped. */
  share: number;
  dropped: { reason: DropReason; text: string } | null;
}

export interface RowExplanation {
  batch: string;
  row: number;
  group: string;
  trajectory: string;
  step: number;
  observation: string | null;
  fingerprint: string;
  precision: Precision;
  stepReturn: number | null;
  score: number | null;
  /** The way from the row to the goal through the graph of its group; absent if the estimator has no graph. */
  goal?: { distance: number; reached: boolean; path: string[]; graph: GoalGraph };
  /** The worst token of the row, from 0, of an estimator that has one advantage per token. The values below are its own. */
  token?: number;
  /** Null if the batch has none, or if it is NaN. */
  reported: number | null;
  true: number | null;
  outcome: RowOutcome;
  /** Every admissible value lies in it. */
  interval: { low: number; high: number } | null;
  combination: 'weighted' | 'sum';
  weightEpsilon: number;
  levels: ExplainedLevel[];
  /** The stages of a chain, each with the value after it; absent for estimators that are sums of levels. */
  stages?: { readonly text: string; readonly value: number | null }[];
  /** Columns that the batch lacks for an outcome. */
  missing: string[];
  /** The part of the stated formula without error bounds, if there is one. */
  unbounded?: string;
  /** The variant that gives this and the other wrong rows, if one does. */
  likelyCause: string | null;
}

/** The graph of a row's group: states by their distance to the goal, and the steps between them. */
export interface GoalGraph {
  /** The goal first. States beyond {@link MAX_NODES}, the farthest, are omitted. */
  nodes: { label: string; distance: number; reached: boolean }[];
  /** Indexes into `nodes`, and how many steps of the group went this way. */
  edges: { from: number; to: number; steps: number }[];
  /** The row's own edge; -1 if it was omitted. */
  own: number;
  /** States of the group, the omitted ones included. */
  states: number;
}

/** Nodes of a graph that are listed. */
export const MAX_NODES = 500;

/** Explains one row. Linear in the rows. Throws a RangeError if the batch has no such row or is too large. */
export function explainRow(batch: Batch, row: number): RowExplanation {
  if (!Number.isInteger(row) || row < 0 || row >= batch.rows) {
    throw new RangeError(`batch ${batch.name} has rows 0 to ${batch.rows - 1}, not ${row}`);
  }
  const step = stepsOf(batch);
  const judge = createJudge(batch);
  const model = 'model' in judge ? judge.model : undefined;
  const judged = 'model' in judge ? judgeRow(batch, judge, row) : undefined;
  const outcome = judged?.outcome ?? 'unverifiable';
  const at = judged === undefined && !model?.isPerToken ? row : judged?.at;
  return {
    batch: cut(batch.name),
    row,
    group: cut(batch.groupNames[batch.group[row]!]!),
    trajectory: cut(batch.trajectoryNames[batch.trajectory[row]!]!),
    step: step[row]!,
    observation: batch.observation === undefined ? null : stateOf(batch, batch.observation[row]!),
    fingerprint: batchFingerprint(batch.estimator, batch.provenance),
    precision: batch.estimator.precision,
    stepReturn: finite(batch.reportedStepReward?.[row] ?? model?.inputs.stepReturn?.value[row]),
    score: finite(batch.tokenLevelRewardSum?.[row]),
    ...present({ goal: goalOf(batch, row), token: judged?.token }),
    reported: finite(judged === undefined ? batch.reportedAdvantage?.[row] : judged.reported),
    true: at === undefined ? null : finite(model?.truth[at]),
    outcome,
    interval:
      model === undefined || at === undefined ? null : finiteInterval(hull(model.parts(at, formsOf(batch)))),
    combination: model?.combination ?? 'sum',
    weightEpsilon: model?.weightEpsilon ?? 0,
    levels: model === undefined ? [] : explainLevels(batch, model, row, step),
    ...(model?.stages && {
      stages: model.stages.map(({ stage, column }) => ({
        text: stageText(stage),
        value: at === undefined ? null : finite(column.value[at]),
      })),
    }),
    ...('unbounded' in judge ? { unbounded: judge.unbounded } : {}),
    missing: ['missing' in judge ? judge.missing : [], lackingReport(batch, row)].flat(),
    likelyCause: 'model' in judge && outcome === 'wrong' ? causeOf(batch, judge) : null,
  };
}

/** The reported value, if the batch or the row has none. */
function lackingReport(batch: Batch, row: number): string[] {
  if (reportedValues(batch) === undefined)
    return [isPerToken(batch) ? 'tokens.reportedAdvantage' : 'reported.advantage'];
  return batch.unreported?.[row] === 1 ? ['an advantage of this row'] : [];
}

/** Observations of a path that are listed. */
const MAX_PATH = 60;

function goalOf(batch: Batch, row: number): RowExplanation['goal'] {
  const { group, observation, nextObservation: next } = batch;
  if (usesOf(batch.estimator).nextObservation !== true || !observation || !next) return undefined;
  const distances = goalDistances({ group, observation, next });
  const rows = goalPath({ group, observation, next }, distances, row);
  const last = next[rows.at(-1)!]!;
  const path = rows.slice(0, MAX_PATH).map((at) => stateOf(batch, observation[at]!));
  const end = last === GOAL ? 'the goal' : stateOf(batch, last);
  const graph = graphOf(batch, { group, observation, next }, distances, row);
  return { distance: distances.to[row]!, reached: distances.reaches[row] === 1, path: [...path, end], graph };
}

function graphOf(
  batch: Batch,
  { group, observation, next }: Transitions,
  distances: GoalDistances,
  row: number,
): GoalGraph {
  const found = new Map<number, { distance: number; reached: boolean }>();
  found.set(GOAL, { distance: 0, reached: true });
  const members = Array.from(group.keys()).filter((at) => group[at] === group[row]);
  for (const at of members) {
    found.set(observation[at]!, { distance: distances.from[at]!, reached: distances.reachesFrom[at] === 1 });
    if (!found.has(next[at]!))
      found.set(next[at]!, { distance: distances.to[at]!, reached: distances.reaches[at] === 1 });
  }
  const states = [...found].sort(([, a], [, b]) => a.distance - b.distance).slice(0, MAX_NODES);
  const place = new Map(states.map(([id], at) => [id, at]));
  const edges = new Map<string, GoalGraph['edges'][number]>();
  const keyOf = (at: number) => `${place.get(observation[at]!)} ${place.get(next[at]!)}`;
  for (const at of members) {
    const [from, to] = [place.get(observation[at]!), place.get(next[at]!)];
    if (from === undefined || to === undefined) continue;
    const known = edges.get(keyOf(at)) ?? { from, to, steps: 0 };
    known.steps++;
    edges.set(keyOf(at), known);
  }
  return {
    nodes: states.map(([id, state]) => ({ label: id === GOAL ? 'the goal' : stateOf(batch, id), ...state })),
    edges: [...edges.values()],
    own: [...edges.keys()].indexOf(keyOf(row)),
    states: found.size,
  };
}

/** The cause that holds for all wrong rows: one row alone fits too many. */
function causeOf(batch: Batch, judge: Judge): string | null {
  const wrong: number[] = [];
  for (let row = 0; row < batch.rows; row++) {
    const { outcome, at } = judgeRow(batch, judge, row) ?? {};
    if (outcome === 'wrong') wrong.push(at!);
  }
  const cause = findLikelyCause(batch, wrong);
  if (cause === undefined) return null;
  if (wrong.length === 1) return cause.text;
  const rows = wrong.length.toLocaleString('en-US');
  if (cause.share === 1) return `${cause.text} (it gives all ${rows} wrong rows)`;
  return `${cause.text} (it gives ${Math.floor(cause.share * 100)} % of the ${rows} wrong rows)`;
}

function explainLevels(batch: Batch, model: RowModel, row: number, step: Int32Array): ExplainedLevel[] {
  const parts = model.levels.map((level) => truePart(model, level, row));
  const shares = sharesOf(model, parts);
  return model.levels.map((level, at) => ({
    ...explainLevel(batch, model, { level, contribution: parts[at]!, row, step }),
    share: shares[at]!,
  }));
}

function explainLevel(
  batch: Batch,
  model: RowModel,
  {
    level,
    contribution,
    row,
    step,
  }: { level: ModelLevel; contribution: TruePart; row: number; step: Int32Array },
): ExplainedLevel {
  const { bounds, cluster, members, input, norm } = level;
  const c = cluster[row]!;
  const { value, reason } = contribution;
  const part = model.parts(row, formsOf(batch)).parts.find((p) => p.level === level.level);
  const isRaw = c >= 0 && bounds.size[c] === 1 && level.rawSingleton;
  const deviation = isRaw ? 1 : finite(c < 0 ? 0 : bounds.deviation[c]);
  return {
    level: level.level,
    title: titleOf(level.level),
    valueName: level.valueName,
    own: finite(input.value[row]),
    states: statesOf(batch, row, c < 0 ? -1 : level.level),
    size: c < 0 ? 0 : bounds.size[c]!,
    members: c < 0 ? [] : membersOf(batch, { cluster: members, value: input.value, of: c, step }),
    mean: isRaw ? 0 : finite(c < 0 ? 0 : bounds.trueMean[c]),
    norm,
    deviation: norm === 'deviation' ? deviation : null,
    epsilon: model.epsilon,
    advantage: finite(value),
    interval: part === undefined ? null : finiteInterval(part),
    weight: level.weight,
    share: 0,
    dropped: reason === undefined ? null : { reason, text: dropText(reason, level) },
  };
}

/** The forms that the batch states. */
export function formsOf({ estimator }: Batch): Forms {
  return estimator.forms ?? 'any';
}

function membersOf(
  batch: Batch,
  { cluster, value, of, step }: { cluster: Int32Array; value: Float64Array; of: number; step: Int32Array },
): ExplainedMember[] {
  const members: ExplainedMember[] = [];
  for (let row = 0; row < batch.rows && members.length < MAX_MEMBERS; row++) {
    if (cluster[row] !== of) continue;
    const trajectory = cut(batch.trajectoryNames[batch.trajectory[row]!]!);
    members.push({ row, trajectory, step: step[row]!, value: finite(value[row]) });
  }
  return members;
}

function stateOf({ observationLabel }: Batch, id: number): string {
  return cut(observationLabel(id), MAX_STATE_CHARACTERS);
}

/** The observations of the row and of the `level` steps before it in its trajectory. */
function statesOf(batch: Batch, row: number, level: number): string[] {
  const { observation, trajectory } = batch;
  if (observation === undefined || level < 0) return [];
  const states: string[] = [];
  for (let at = row; at >= 0 && states.length <= level; at--) {
    if (trajectory[at] === trajectory[row]) states.push(stateOf(batch, observation[at]!));
  }
  return states;
}

function titleOf(level: number): string {
  if (level < 0) return 'the whole group';
  if (level === 0) return 'same state';
  return level === 1 ? 'same state and the one before' : `same state and the ${level} before`;
}

function dropText(reason: DropReason, { level, valueName }: ModelLevel): string {
  if (reason === 'no-such-step') return `the trajectory is not ${level + 1} steps old yet`;
  if (reason === 'singleton') return 'alone in its cluster: nothing to compare with';
  if (reason === 'equal') return `all ${valueName}s are equal`;
  return `its ${valueName} is the cluster’s mean`;
}

/** JSON has no NaN and no infinity: null stands for them, and for a value that is missing. */
export function finite(x: number | undefined): number | null {
  return x !== undefined && Number.isFinite(x) ? x : null;
}

function finiteInterval({ low, high }: { low: number; high: number }): { low: number; high: number } | null {
  return Number.isFinite(low) && Number.isFinite(high) ? { low, high } : null;
}
