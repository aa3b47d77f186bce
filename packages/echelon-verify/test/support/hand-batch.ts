import type { Batch, BatchProvenance } from '../../src/format/batch.ts';
import { type Stated, stated } from './stated.ts';

/** A row of a batch written by hand. */
export interface HandRow {
  readonly group?: string;
  readonly trajectory: string;
  readonly step?: number;
  readonly state?: string;
  readonly reward?: number;
  readonly valid?: boolean;
  readonly score?: number;
  readonly return?: number;
  readonly advantage?: number;
}

const HAND_ESTIMATOR: Stated = {
  name: 'hgpo',
  historyLength: 2,
  mode: 'mean_norm',
  lengthWeightAlpha: 1,
  baseGroup: false,
  stepAdvantageWeight: 1,
  normalizeByStd: true,
  gamma: 1,
  invalidActionPenalty: 0.5,
  epsilon: 1e-6,
  precision: 'float32',
};

/** A batch from rows; a column is there where the first row has it. Ids are given by first appearance. */
export function handBatch(
  rows: readonly HandRow[],
  { estimator, provenance }: { estimator?: Stated; provenance?: BatchProvenance } = {},
): Batch {
  const ids = (pick: (row: HandRow) => string): { column: Int32Array; names: string[] } => {
    const names = [...new Set(rows.map(pick))];
    return { column: Int32Array.from(rows, (row) => names.indexOf(pick(row))), names };
  };
  const numbers = (key: 'reward' | 'score' | 'return' | 'advantage'): Float64Array | undefined =>
    rows[0]?.[key] === undefined ? undefined : Float64Array.from(rows, (row) => row[key] ?? 0);
  const group = ids((row) => row.group ?? 'g');
  const trajectory = ids((row) => row.trajectory);
  const state = ids((row) => row.state ?? '');
  const optional = {
    step: rows[0]?.step === undefined ? undefined : Int32Array.from(rows, (row) => row.step ?? 0),
    observation: rows[0]?.state === undefined ? undefined : state.column,
    reward: numbers('reward'),
    actionValid: rows[0]?.valid === undefined ? undefined : Uint8Array.from(rows, (row) => Number(row.valid)),
    tokenLevelRewardSum: numbers('score'),
    reportedStepReward: numbers('return'),
    reportedAdvantage: numbers('advantage'),
    provenance,
  };
  return {
    name: 'by hand',
    rows: rows.length,
    estimator: stated({ ...HAND_ESTIMATOR, ...estimator }),
    group: group.column,
    groupNames: group.names,
    trajectory: trajectory.column,
    trajectoryNames: trajectory.names,
    observationLabel: (id) => state.names[id] ?? String(id),
    ...(Object.fromEntries(
      Object.entries(optional).filter(([, value]) => value !== undefined),
    ) as Partial<Batch>),
  };
}
