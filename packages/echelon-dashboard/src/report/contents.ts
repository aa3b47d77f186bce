import type { Answers, Question } from 'echelon-verify/browser';
import { explainRow, rowColumns } from 'echelon-verify/explain';
import type { Batch } from 'echelon-verify/format';
import { batchId, type ReportHead, unpackBatch } from 'echelon-verify/html';
import type { Answerer } from '../screens/verify/reports.tsx';
import { bytesOf } from './parts.ts';

/** The rows of a batch that are loaded at most, as of one of the API. */
const MAX_ROWS = 10_000;

/** Answers questions on the batches in this file, from their rows. */
export function answererOf({ reports }: ReportHead): Answerer {
  const batches = new Map<number, Promise<Batch>>();
  const load = async (at: number): Promise<Batch> => {
    const bytes = await bytesOf(batchId(at));
    if (bytes === undefined)
      throw new Error(`The file does not have the rows of this batch. ${reports[at]?.withoutRows ?? ''}`);
    return unpackBatch(bytes);
  };
  const batchOf = (at: number): Promise<Batch> => {
    const known = batches.get(at) ?? load(at);
    batches.set(at, known);
    return known;
  };
  const answer = async (question: Question): Promise<Answers[keyof Answers]> => {
    if (question.kind !== 'rows' && question.kind !== 'explain')
      throw new TypeError('a report holds advantages and no other files');
    const batch = await batchOf(question.at);
    return question.kind === 'rows'
      ? rowColumns(batch, { first: 0, count: MAX_ROWS })
      : explainRow(batch, question.row);
  };
  return { ask: (question) => answer(question) as never };
}
