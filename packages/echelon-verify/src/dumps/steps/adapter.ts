/** What reads the optimizer steps in another trainer's dump: the interface of the adapters, one file each in this folder. */

import type { StepBatch } from '../../format/step-batch.ts';
import { COLUMN_KEYS, type ColumnKey, TOKEN_COLUMNS } from '../../format/step-columns.ts';
import type { MicroBatch, StepSettings } from '../../format/step-settings.ts';
import type { FileStart } from '../adapter.ts';
import { namesOf } from '../dump-batch.ts';

/** Reads the steps in the dumps of one trainer. */
export interface StepAdapter {
  /** For `--from`. */
  readonly name: string;
  /** Trainer and kind of file, for people. */
  readonly title: string;
  /** The token columns by their keys in the dump. A dump may lack some of them. */
  readonly columns: Readonly<Record<string, ColumnKey>>;
  /** What its steps state beside their layout. */
  readonly states: readonly (keyof StepSettings)[];
  /** What its micro-batches state beside rank and index. Omitted: nothing. */
  readonly statesOfMicroBatches?: readonly (keyof MicroBatch)[];
  /** True if the file holds optimizer steps and nothing else. Omitted: the file is read as a step only if `--from` says so. */
  matches?(start: FileStart): boolean;
  /**
   * The adapter of the advantages in the same files, and which of its files hold steps. They are then read as steps as well,
   * without `--from`.
   */
  readonly besides?: { readonly adapter: string; holds(file: string): boolean };
  /** The steps of these files, each with its file, or the folder of its files. Throws a BatchFormatError. */
  steps(files: readonly string[]): AsyncIterable<{ readonly file: string; readonly step: StepBatch }>;
}

/** One row of a step as a dump holds it. Columns of equal length; one that some row lacks is omitted from the step. */
export interface DumpRow {
  readonly columns: Readonly<Partial<Record<ColumnKey, readonly number[]>>>;
  /** Index into `microBatches`. Omitted: 0. */
  readonly microBatch?: number;
  readonly group?: string;
  /** The sample, with a column of positions, if the dump tells where each is trained. */
  readonly trajectory?: string;
  /** Of the tokens of the row or its group, as the trainer counted them. */
  readonly denominator?: number;
}

/** What is read of a line of JSON. */
export const selectionOf = (keys: readonly string[]): Readonly<Record<string, true>> =>
  Object.fromEntries(keys.map((key) => [key, true]));

/** The step of rows with their columns. */
export function stepOfRows(name: string, step: StepSettings, rows: readonly DumpRow[]): StepBatch {
  const lengths = rows.map(({ columns }) => Object.values(columns)[0]?.length ?? 0);
  const offset = new Int32Array(rows.length + 1);
  lengths.forEach((length, row) => {
    offset[row + 1] = offset[row]! + length;
  });
  const own = COLUMN_KEYS.filter((key) =>
    rows.every(({ columns }, row) => columns[key]?.length === lengths[row]),
  );
  const columns = own.map((key) => {
    const { type } = TOKEN_COLUMNS[key];
    const Kind =
      type === 'float32' ? Float32Array : type === 'int32' || type === 'runs' ? Int32Array : Uint8Array;
    const column = new Kind(offset[rows.length]!);
    rows.forEach((row, at) => {
      column.set(row.columns[key]!, offset[at]);
    });
    return [key, column];
  });
  return {
    name,
    step,
    rows: rows.length,
    microBatch: Int32Array.from(rows, ({ microBatch = 0 }) => microBatch),
    ...(rows.every(({ group }) => group !== undefined)
      ? { group: namesOf(rows.map((row) => row.group!)) }
      : {}),
    ...(rows.every(({ trajectory }) => trajectory !== undefined)
      ? { trajectory: namesOf(rows.map((row) => row.trajectory!)) }
      : {}),
    ...(rows.every(({ denominator }) => denominator !== undefined)
      ? { reportedDenominator: Float32Array.from(rows, ({ denominator }) => denominator!) }
      : {}),
    tokens: { offset, ...Object.fromEntries(columns) },
  };
}
