/** The work of a child process of the verifier's pool. Errors are answers: they would lose their class on the way. */

import { explainRow, type RowExplanation } from '../explain/explain.ts';
import { type RowQuery, rowColumns } from '../explain/row-columns.ts';
import { type BundleOrigin, writeBundle } from '../format/bundle.ts';
import { type BatchFault, BatchFormatError } from '../format/format-error.ts';
import { decodeBatch } from '../format/wire.ts';
import type { BatchReport } from '../report.ts';
import { type FileReport, type FileTask, verifyUpload, verifyWithin } from './verify-upload.ts';

/** A task of the pool: a protobuf batch, and what it may need. */
export interface PoolTask {
  readonly wire: Uint8Array;
  readonly budgetBytes: number;
  /** The row to explain. */
  readonly row?: number;
  /** Which rows to return in columns. */
  readonly query?: RowQuery;
  /** Where the batch of a bundle comes from. */
  readonly origin?: BundleOrigin;
}

/** The answer, or the fault of an unreadable batch, or a row that is not there, or what the memory did not suffice for. */
export type PoolAnswer<T> =
  | { readonly value: T }
  | { readonly fault: BatchFault }
  | { readonly outOfRange: string }
  | { readonly exhausted: string };

/** Verifies one batch. */
export function verify({ wire, budgetBytes }: PoolTask): PoolAnswer<BatchReport> {
  return answer(() => verifyWithin(budgetBytes, decodeBatch(wire), wire.byteLength));
}

/** Verifies a file that was uploaded. */
export function verifyFile(task: FileTask): Promise<PoolAnswer<FileReport[]>> {
  return answerLater(() => verifyUpload(task));
}

/** Explains one row of a batch. */
export function explain({ wire, row }: PoolTask): PoolAnswer<RowExplanation> {
  return answer(() => explainRow(decodeBatch(wire), row ?? -1));
}

/** Rows of a batch in columns, as the bytes of a JSON text: the event loop then only sends them. */
export function rows({ wire, query }: PoolTask): PoolAnswer<Uint8Array> {
  if (query === undefined) throw new TypeError('a query says which rows');
  return answer(() => new TextEncoder().encode(JSON.stringify(rowColumns(decodeBatch(wire), query))));
}

/** Writes a batch as a bundle. */
export function bundle({ wire, origin }: PoolTask): PoolAnswer<Uint8Array> {
  if (origin === undefined) throw new TypeError('a bundle says where its batch comes from');
  return answer(() => writeBundle(decodeBatch(wire), origin));
}

/** All tasks by name. */
export const TASKS = { verify, verifyFile, explain, rows, bundle };
export type TaskName = keyof typeof TASKS;

function answer<T>(work: () => T): PoolAnswer<T> {
  try {
    return { value: work() };
  } catch (error) {
    return refusal(error);
  }
}

async function answerLater<T>(work: () => Promise<T>): Promise<PoolAnswer<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    return refusal(error);
  }
}

function refusal(error: unknown): PoolAnswer<never> {
  if (error instanceof BatchFormatError) {
    const { code, file, batch, field, expected, found } = error;
    return { fault: { code, file, batch, field, expected, found } };
  }
  if (!(error instanceof RangeError)) throw error;
  return EXHAUSTED.test(error.message) ? { exhausted: error.message } : { outOfRange: error.message };
}

/** What V8 says if something that is to be allocated is too large. */
const EXHAUSTED =
  /allocation failed|Invalid (?:array|string|typed array) length|maximum size exceeded|call stack/;
