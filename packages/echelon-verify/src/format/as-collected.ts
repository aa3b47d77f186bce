import { present } from '../base/present.ts';
import type { Batch, BatchProvenance } from './batch.ts';

/** A batch as the rollout collected it: without copies, in time order. */
export interface Collected {
  readonly batch: Batch;
  /** The row of the given batch for each row here. */
  readonly rows: Int32Array;
  /** The row here for each row of the given batch: copies have that of their original. */
  readonly from: Int32Array;
}

/** Every check of a batch's provenance asks for it, and batches do not change. */
const known = new WeakMap<Batch, Collected>();

/**
 * Undoes what the trainer states to have done to the rows before it computed the advantages (`provenance.preparation`). What it
 * does not state stays, and is a finding: another number of copies, copies that differ from their original, or another order.
 * Undefined if nothing is stated, or if the rows carry no step numbers.
 */
export function asCollected(batch: Batch): Collected | undefined {
  const { step, provenance } = batch;
  if (step === undefined || provenance?.preparation === undefined) return undefined;
  const collected = known.get(batch) ?? undone(batch, step, provenance);
  known.set(batch, collected);
  return collected;
}

function undone(batch: Batch, step: Int32Array, provenance: BatchProvenance): Collected {
  const isPadded = provenance.preparation !== 'balanced';
  const isBalanced = provenance.preparation !== 'padded';
  const { rowsCollected = batch.rows } = provenance;
  const original = originals(batch, step);
  const all = Array.from({ length: batch.rows }, (_, row) => row);
  const first = all.filter((row) => original[row] === row);
  const rows = isPadded && first.length === rowsCollected ? first : all;
  if (isBalanced) rows.sort((a, b) => step[a]! - step[b]!);
  const { preparation: _undone, ...stated } = provenance;
  const at = new Int32Array(batch.rows);
  rows.forEach((row, i) => {
    at[row] = i;
  });
  const from = rows === first ? original.map((row) => at[row]!) : at;
  const picked = pickRows(batch, Int32Array.from(rows));
  return { batch: { ...picked, provenance: stated }, rows: Int32Array.from(rows), from };
}

/** For each row the first with its step, if it has the same contents; else the row itself. */
function originals(batch: Batch, step: Int32Array): Int32Array {
  const { trajectory } = batch;
  const columns = [
    batch.group,
    batch.observation,
    batch.nextObservation,
    batch.reward,
    batch.actionValid,
    batch.tokenLevelRewardSum,
    batch.responseLength,
    batch.reportedStepReward,
  ].filter((column) => column !== undefined);
  const seen = new Map<number, number>();
  const stride = step.reduce((most, own) => Math.max(most, own), 0) + 1;
  return step.map((own, row) => {
    const key = trajectory[row]! * stride + own;
    const first = seen.get(key);
    if (first === undefined) seen.set(key, row);
    else if (columns.every((column) => Object.is(column[first], column[row]))) return first;
    return row;
  });
}

/** Some rows of a batch. The ids stay as they are, and so do the names. Tokens are omitted. */
export function pickRows({ tokens: _whole, ...batch }: Batch, rows: Int32Array): Batch {
  const ints = (column: Int32Array | undefined) => column && rows.map((row) => column[row]!);
  const floats = (column: Float64Array | undefined) =>
    column && Float64Array.from(rows, (row) => column[row]!);
  return {
    ...batch,
    rows: rows.length,
    group: rows.map((row) => batch.group[row]!),
    trajectory: rows.map((row) => batch.trajectory[row]!),
    ...present({
      step: ints(batch.step),
      observation: ints(batch.observation),
      nextObservation: ints(batch.nextObservation),
      reward: floats(batch.reward),
      actionValid: batch.actionValid && Uint8Array.from(rows, (row) => batch.actionValid![row]!),
      tokenLevelRewardSum: floats(batch.tokenLevelRewardSum),
      scoreError: floats(batch.scoreError),
      rewards: batch.rewards?.map((column) => ({ ...column, value: floats(column.value)! })),
      rewardBaseline: floats(batch.rewardBaseline),
      responseLength: ints(batch.responseLength),
      reportedStepReward: floats(batch.reportedStepReward),
      reportedAdvantage: floats(batch.reportedAdvantage),
    }),
  };
}
