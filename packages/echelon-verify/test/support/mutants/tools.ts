/** Pieces from which planted bugs are made. */

import type { Batch, BatchProvenance } from '../../../src/format/batch.ts';
import { estimate } from '../../../src/identify/estimate.ts';
import { clusterLevels } from '../../../src/kernel/clusters.ts';
import type { HgpoParameters } from '../../../src/kernel.ts';
import { overridesOf, parametersOf, type Stated } from '../stated.ts';

/** A bug as it would really occur: what the trainer would have sent instead of the clean batch. */
export interface Mutant {
  readonly id: string;
  /** The public thread (or file) that tells of the bug. */
  readonly thread: string;
  readonly what: string;
  /** The golden batch that it starts from. */
  readonly base: string;
  readonly plant: (clean: Batch) => Batch;
}

/** The batch with other reported advantages, rounded to float32 as a report is. */
export function report(batch: Batch, advantage: ArrayLike<number>): Batch {
  return { ...batch, reportedAdvantage: Float64Array.from(advantage, Math.fround) };
}

/** The batch as its own estimator, with changes, would report it. */
export function reportBy(batch: Batch, overrides: Stated = {}): Batch {
  return report(batch, estimate(batch, overridesOf(overrides)).advantage);
}

/** Replaces the reported step returns (rounded to float32), and lets the estimator run on them. */
export function withReturns(batch: Batch, stepReturn: ArrayLike<number>): Batch {
  return reportBy({ ...batch, reportedStepReward: Float64Array.from(stepReturn, Math.fround) });
}

/** Replaces the scores (rounded to float32), and lets the estimator run on them. */
export function withScores(batch: Batch, score: ArrayLike<number>): Batch {
  return reportBy({ ...batch, tokenLevelRewardSum: Float64Array.from(score, Math.fround) });
}

/** The batch with a statement of its provenance. */
export function stating(batch: Batch, provenance: BatchProvenance): Batch {
  return { ...batch, provenance: { ...batch.provenance, ...provenance } };
}

/** The batch's rows in another order; rows may be omitted or repeated. All columns follow. */
export function pick(batch: Batch, order: readonly number[]): Batch {
  const ints = (column: Int32Array): Int32Array => Int32Array.from(order, (row) => column[row]!);
  const floats = (column: Float64Array): Float64Array => Float64Array.from(order, (row) => column[row]!);
  return {
    ...batch,
    rows: order.length,
    group: ints(batch.group),
    trajectory: ints(batch.trajectory),
    step: ints(batch.step!),
    observation: ints(batch.observation!),
    ...(batch.nextObservation && { nextObservation: ints(batch.nextObservation) }),
    reward: floats(batch.reward!),
    actionValid: Uint8Array.from(order, (row) => batch.actionValid![row]!),
    tokenLevelRewardSum: floats(batch.tokenLevelRewardSum!),
    responseLength: ints(batch.responseLength!),
    reportedStepReward: floats(batch.reportedStepReward!),
    reportedAdvantage: floats(batch.reportedAdvantage!),
  };
}

/** All rows, 0 to rows - 1. */
export function allRows(batch: Batch): number[] {
  return Array.from({ length: batch.rows }, (_, row) => row);
}

/** Rows by an id column, each list in batch order. */
export function rowsBy(ids: Int32Array): number[][] {
  const lists: number[][] = [];
  ids.forEach((id, row) => {
    const list = lists[id];
    if (list === undefined) lists[id] = [row];
    else list.push(row);
  });
  return lists.filter((list) => list !== undefined);
}

/** GRPO with the groups, the values or the statistics of the bug's choosing. */
export function groupwise(
  batch: Batch,
  bug: {
    readonly group?: Int32Array;
    readonly value?: Float64Array;
    /** Mean and deviation of a group from its rows. */
    readonly statistics?: (
      values: readonly number[],
      rows: readonly number[],
    ) => { mean: number; deviation: number };
  },
): Batch {
  const value = bug.value ?? batch.tokenLevelRewardSum!;
  const advantage = new Float64Array(batch.rows);
  const { normalizeByStd, epsilon = 0 } = parametersOf(batch.estimator);
  for (const rows of rowsBy(bug.group ?? batch.group)) {
    const values = rows.map((row) => value[row]!);
    const { mean, deviation } = (bug.statistics ?? sampleStatistics)(values, rows);
    for (const row of rows) {
      advantage[row] = (value[row]! - mean) / (normalizeByStd ? deviation + epsilon : 1);
    }
  }
  return report(batch, advantage);
}

/** Mean, and deviation with n - 1. */
export function sampleStatistics(values: readonly number[]): { mean: number; deviation: number } {
  const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
  const squares = values.reduce((sum, x) => sum + (x - mean) ** 2, 0);
  return { mean, deviation: Math.sqrt(squares / Math.max(1, values.length - 1)) };
}

/** HGPO with the mean and deviation of each cluster of the bug's choosing. */
export function levelwise(
  batch: Batch,
  statistics: (values: readonly number[], rows: readonly number[]) => { mean: number; deviation: number },
): Batch {
  const { historyLength, mode, epsilon, lengthWeightAlpha } = batch.estimator.params as HgpoParameters;
  const steps = {
    rows: batch.rows,
    group: batch.group,
    trajectory: batch.trajectory,
    observation: batch.observation!,
  };
  const weighted = new Float64Array(batch.rows);
  const weights = new Float64Array(batch.rows);
  for (const { level, cluster } of clusterLevels(steps, historyLength)) {
    const members = rowsBy(cluster.map((c) => Math.max(c, 0))).map((rows) =>
      rows.filter((row) => cluster[row]! >= 0),
    );
    for (const rows of members) {
      if (rows.length < 2) continue;
      const values = rows.map((row) => batch.reportedStepReward![row]!);
      const { mean, deviation } = statistics(values, rows);
      const weight = (level + 2) ** lengthWeightAlpha;
      rows.forEach((row, i) => {
        const a = (values[i]! - mean) / (mode === 'mean_std_norm' ? deviation + epsilon : 1);
        if (a === 0) return;
        weighted[row]! += weight * a;
        weights[row]! += weight;
      });
    }
  }
  return report(
    batch,
    weighted.map((sum, row) => (weights[row] === 0 ? 0 : sum / (weights[row]! + epsilon))),
  );
}

/** Discounted returns in which the bug may cut, change or move things. */
export function returnsWith(
  batch: Batch,
  bug: {
    readonly gamma?: number;
    readonly reward?: (row: number, last: boolean) => number;
    /** True where the return starts anew at this row. */
    readonly reset?: (row: number) => boolean;
  },
): Float64Array {
  const gamma = bug.gamma ?? batch.estimator.gamma;
  const returns = new Float64Array(batch.rows);
  for (const rows of rowsBy(batch.trajectory)) {
    let ahead = 0;
    for (const row of [...rows].reverse()) {
      const last = row === rows.at(-1);
      const reward = bug.reward === undefined ? batch.reward![row]! : bug.reward(row, last);
      ahead = bug.reset?.(row) === true ? reward : reward + gamma * ahead;
      const penalty = batch.actionValid![row] === 0 ? batch.estimator.invalidActionPenalty : 0;
      returns[row] = ahead - penalty;
    }
  }
  return returns;
}
