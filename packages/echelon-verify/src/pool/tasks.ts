/** The work of a child process of the verifier's pool. Errors are answers: they would lose their class on the way. */

import { gzipSync } from 'node:zlib';
import { explainRow, type RowExplanation } from '../explain/explain.ts';
import { explainToken, type TokenExplanation } from '../explain/explain-step.ts';
import { type RowQuery, rowColumns } from '../explain/row-columns.ts';
import { decodeBatch } from '../format/batch-wire.ts';
import { type BundleOrigin, writeBundle } from '../format/bundle.ts';
import { type BatchFault, BatchFormatError } from '../format/format-error.ts';
import { STEP_FORMAT } from '../format/read-step.ts';
import { decodeStep, formatOfWire } from '../format/step-wire.ts';
import type { BatchReport } from '../report/report.ts';
import { recordedStep } from '../verify/recorded-step.ts';
import { firstWrongToken, type TokenColumns, tokenColumns } from '../verify/token-columns.ts';
import { type FileReports, type FileTask, stepWithin, verifyUpload, verifyWithin } from './verify-upload.ts';

/** A task of the pool: a protobuf batch, and what it may need. */
export interface PoolTask {
  readonly wire: Uint8Array;
  readonly budgetBytes: number;
  /** The row to explain, or whose tokens to return. */
  readonly row?: number;
  /** The token of the row to explain. */
  readonly position?: number | undefined;
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

/** Verifies one batch or optimizer step. */
export function verify({ wire, budgetBytes }: PoolTask): PoolAnswer<BatchReport> {
  return answer(() => {
    if (!isStep(wire)) return verifyWithin(budgetBytes, decodeBatch(wire), wire.byteLength);
    const step = decodeStep(wire);
    return recordedStep(step, stepWithin(budgetBytes, step, { ownBytes: wire.byteLength }));
  });
}

const isStep = (wire: Uint8Array): boolean => formatOfWire(wire) === STEP_FORMAT;

/** Verifies a file that was uploaded. */
export function verifyFile(task: FileTask): Promise<PoolAnswer<FileReports>> {
  return answerLater(() => verifyUpload(task));
}

/** Explains one row of a batch, or a token of a step: that of `position`, or the first wrong one of the row. */
export function explain({
  wire,
  row = -1,
  position,
}: PoolTask): PoolAnswer<RowExplanation | TokenExplanation> {
  return answer(() => {
    if (!isStep(wire)) return explainRow(decodeBatch(wire), row);
    const step = decodeStep(wire);
    return explainToken(step, row, position ?? firstWrongToken(step, row));
  });
}

/** The tokens of a row of a step, with the layout of its micro-batches. */
export function tokens({ wire, row = -1 }: PoolTask): PoolAnswer<TokenColumns> {
  return answer(() => {
    if (isStep(wire)) return tokenColumns(decodeStep(wire), row);
    throw new RangeError('this batch holds advantages, and only an optimizer step has tokens');
  });
}

/** Rows of a batch in columns, as the bytes of a JSON text: the event loop then only sends them. */
export function rows({ wire, query }: PoolTask): PoolAnswer<Uint8Array> {
  if (isStep(wire)) return { outOfRange: 'this batch is an optimizer step: read its tokens instead' };
  if (query === undefined) throw new TypeError('a query says which rows');
  return answer(() => new TextEncoder().encode(JSON.stringify(rowColumns(decodeBatch(wire), query))));
}

/** Writes a batch as a bundle; a step as its own bytes in gzip. */
export function bundle({ wire, origin }: PoolTask): PoolAnswer<Uint8Array> {
  if (origin === undefined) throw new TypeError('a bundle says where its batch comes from');
  return answer(() => (isStep(wire) ? gzipSync(wire) : writeBundle(decodeBatch(wire), origin)));
}

/** All tasks by name. */
export const TASKS = { verify, verifyFile, explain, tokens, rows, bundle };
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
