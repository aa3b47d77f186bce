import './buffer.ts';
import { explainRow, type RowExplanation } from '../../verify/explain/explain.ts';
import { type RowColumns, rowColumns } from '../../verify/explain/row-columns.ts';
import type { Batch } from '../../verify/format/batch.ts';
import { readBatchFile } from '../../verify/format/read.ts';
import type { BatchReport } from '../../verify/report.ts';
import { verifyBatch } from '../../verify/verify-batch.ts';

/** What the page asks; `at` is the index of a batch in the file. */
export type Question =
  | { kind: 'read'; name: string; bytes: Uint8Array }
  | { kind: 'rows'; at: number }
  | { kind: 'explain'; at: number; row: number };

/** The answers by the kind of the question. */
export interface Answers {
  read: BatchReport[];
  rows: RowColumns;
  explain: RowExplanation;
}

let batches: Batch[] = [];

function answer(question: Question): Answers[keyof Answers] {
  if (question.kind === 'read') {
    batches = readBatchFile(question.bytes, question.name);
    return batches.map(verifyBatch);
  }
  const batch = batches[question.at]!;
  if (question.kind === 'rows') return rowColumns(batch, { first: 0, count: 10_000 });
  return explainRow(batch, question.row);
}

addEventListener(
  'message',
  ({ data: { id, question } }: MessageEvent<{ id: number; question: Question }>) => {
    try {
      postMessage({ id, answer: answer(question) });
    } catch (error) {
      postMessage({ id, error: (error as Error).message });
    }
  },
);
