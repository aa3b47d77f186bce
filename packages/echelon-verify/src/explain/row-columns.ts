/** Rows of a batch with their outcomes and levels, in columns: what a heat map or a table of many rows is drawn from. */

import { cut, MAX_STATE_CHARACTERS } from 'command-kit/cut';
import { hull } from '../bounds/admissible.ts';
import { judgeRow } from '../bounds/judged-row.ts';
import { createJudge, type Judge } from '../bounds/outcomes.ts';
import { type DropReason, sharesOf, truePart } from '../bounds/true-part.ts';
import { type Batch, batchFingerprint, stepsOf } from '../format/batch.ts';
import type { RowOutcome } from '../report/report.ts';
import { finite, formsOf } from './explain.ts';

/** Which rows; all conditions hold together. */
export interface RowQuery {
  /** Skips this many matching rows. */
  readonly first: number;
  /** Maximum number of rows. */
  readonly count: number;
  /** Only rows of this trajectory. */
  readonly trajectory?: string;
  /** Only rows of the same group and with the same observation as this row, from 0. */
  readonly sameStateAs?: number;
}

/** One level of the estimator for each returned row; entry i of a column belongs to entry i of {@link RowColumns.row}. */
export interface LevelColumns {
  /** k; -1 for the whole group. */
  readonly level: number;
  /** The row's true advantage within this level, in float64, before any weight; null if it is not finite. */
  readonly advantage: (number | null)[];
  /** Coefficient of the level in the row's advantage; 0 if the level was dropped. */
  readonly share: number[];
  /** Why the level adds nothing; null if it adds something. */
  readonly dropped: (DropReason | null)[];
}

/** What one reward function gave the returned rows. */
export interface RewardValues {
  readonly name: string;
  readonly weight: number;
  readonly value: (number | null)[];
}

/** Columns of equal length. A value that is missing or not finite is null. */
export interface RowColumns {
  /** Rows of the whole batch. */
  readonly rows: number;
  /** Rows that match the query, on all pages. */
  readonly matching: number;
  readonly first: number;
  readonly fingerprint: string;
  /** Index of the row in the batch, from 0. */
  readonly row: number[];
  /** Names of the groups of these rows; the column `group` has indexes into it. Likewise below. */
  readonly groups: string[];
  readonly group: number[];
  readonly trajectories: string[];
  readonly trajectory: number[];
  /** Step in the trajectory, from 0. */
  readonly step: number[];
  /** Text of each observation; its digest or number if the batch has no texts. Null: the batch has no observations. */
  readonly observations: string[] | null;
  readonly observation: number[] | null;
  /** Text of each action; null if the batch has no texts of actions. */
  readonly actions: string[] | null;
  readonly action: number[] | null;
  readonly outcome: RowOutcome[];
  /** Of an estimator that has one advantage per token, here and below the values of the row's worst token. */
  readonly reported: (number | null)[];
  readonly true: (number | null)[];
  /** Bounds of the values that the trainer's arithmetic can give. */
  readonly low: (number | null)[];
  readonly high: (number | null)[];
  readonly stepReturn: (number | null)[];
  readonly score: (number | null)[];
  /** One entry per reward function. */
  readonly rewards: RewardValues[];
  /** From the group (-1) to the longest shared history; empty for an estimator that is a chain of stages. */
  readonly levels: LevelColumns[];
}

/** The matching rows in the batch's order. Linear in the rows. Throws a RangeError if the batch has no such row or is too large. */
export function rowColumns(batch: Batch, query: RowQuery): RowColumns {
  const matching = matchingRows(batch, query);
  const row = matching.slice(query.first, query.first + query.count);
  const judge = createJudge(batch);
  const model = 'model' in judge ? judge.model : undefined;
  const step = stepsOf(batch);
  const group = indexed(row, (at) => cut(batch.groupNames[batch.group[at]!]!));
  const trajectory = indexed(row, (at) => cut(batch.trajectoryNames[batch.trajectory[at]!]!));
  const { observation } = batch;
  const acted =
    batch.action && indexed(row, (at) => cut(batch.actionTexts![batch.action![at]!]!, MAX_STATE_CHARACTERS));
  const seen =
    observation && indexed(row, (at) => cut(batch.observationLabel(observation[at]!), MAX_STATE_CHARACTERS));
  return {
    rows: batch.rows,
    matching: matching.length,
    first: query.first,
    fingerprint: batchFingerprint(batch.estimator, batch.provenance),
    row,
    groups: group.names,
    group: group.index,
    trajectories: trajectory.names,
    trajectory: trajectory.index,
    step: row.map((at) => step[at]!),
    observations: seen?.names ?? null,
    observation: seen?.index ?? null,
    actions: acted?.names ?? null,
    action: acted?.index ?? null,
    ...judged(batch, judge, row),
    stepReturn: row.map((at) =>
      finite(batch.reportedStepReward?.[at] ?? model?.inputs.stepReturn?.value[at]),
    ),
    score: row.map((at) => finite(batch.tokenLevelRewardSum?.[at])),
    rewards: (batch.rewards ?? []).map(({ name, weight, value }) => ({
      ...{ name, weight, value: row.map((at) => finite(value[at])) },
    })),
    levels: 'model' in judge ? levelColumns(judge, row) : [],
  };
}

function matchingRows(batch: Batch, { trajectory, sameStateAs }: RowQuery): number[] {
  const like = sameStateAs ?? 0;
  if (like >= batch.rows) throw new RangeError(`the batch has rows 0 to ${batch.rows - 1}, not ${like}`);
  const rows: number[] = [];
  for (let row = 0; row < batch.rows; row++) {
    // As it is shown: a caller knows a long name only so far.
    if (trajectory !== undefined && cut(batch.trajectoryNames[batch.trajectory[row]!]!) !== trajectory)
      continue;
    if (sameStateAs !== undefined && !isSameState(batch, row, sameStateAs)) continue;
    rows.push(row);
  }
  return rows;
}

function isSameState({ group, observation }: Batch, row: number, like: number): boolean {
  return group[row] === group[like] && observation?.[row] === observation?.[like];
}

/** The distinct names in the order of their first row, and each row's index into them. */
function indexed(
  rows: readonly number[],
  nameOf: (row: number) => string,
): { names: string[]; index: number[] } {
  const places = new Map<string, number>();
  const index = rows.map((row) => {
    const name = nameOf(row);
    const place = places.get(name) ?? places.size;
    places.set(name, place);
    return place;
  });
  return { names: [...places.keys()], index };
}

function judged(batch: Batch, judge: ReturnType<typeof createJudge>, rows: readonly number[]) {
  const columns: Pick<RowColumns, 'outcome' | 'reported' | 'true' | 'low' | 'high'> = {
    outcome: [],
    reported: [],
    true: [],
    low: [],
    high: [],
  };
  const model = 'model' in judge ? judge.model : undefined;
  for (const row of rows) {
    const judged = 'model' in judge ? judgeRow(batch, judge, row) : undefined;
    const at = judged === undefined && !model?.isPerToken ? row : judged?.at;
    const interval = at === undefined ? undefined : model && hull(model.parts(at, formsOf(batch)));
    columns.outcome.push(judged?.outcome ?? 'unverifiable');
    columns.reported.push(finite(judged === undefined ? batch.reportedAdvantage?.[row] : judged.reported));
    columns.true.push(at === undefined ? null : finite(model?.truth[at]));
    columns.low.push(finite(interval?.low));
    columns.high.push(finite(interval?.high));
  }
  return columns;
}

function levelColumns({ model }: Judge, rows: readonly number[]): LevelColumns[] {
  if (model.stages !== undefined) return [];
  const columns = model.levels.map(
    ({ level }): LevelColumns => ({ level, advantage: [], share: [], dropped: [] }),
  );
  for (const row of rows) {
    const parts = model.levels.map((level) => truePart(model, level, row));
    const shares = sharesOf(model, parts);
    columns.forEach(({ advantage, share, dropped }, at) => {
      const { value, reason } = parts[at]!;
      advantage.push(finite(value));
      share.push(shares[at]!);
      dropped.push(reason ?? null);
    });
  }
  return columns;
}
