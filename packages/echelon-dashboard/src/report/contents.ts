import { COMPARISON_ID, type ComparisonFile } from 'echelon-client/comparison-file';
import type { Answers, Question } from 'echelon-verify/browser';
import { explainRow } from 'echelon-verify/explain/explain';
import { rowColumns } from 'echelon-verify/explain/row-columns';
import type { Batch } from 'echelon-verify/format/batch';
import { batchId, HEAD_ID, type ReportHead } from 'echelon-verify/html/contents';
import { unpackBatch } from 'echelon-verify/html/pack-batch';
import type { Answerer } from '../screens/verify/reports.tsx';

/** The rows of a batch that are loaded at most, as of one of the API. */
const MAX_ROWS = 10_000;

/** The bytes of an element of the file; undefined if it has none of this id. */
async function bytesOf(id: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const text = document.getElementById(id)?.textContent;
  if (!text) return undefined;
  const packed = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}

async function readJson(id: string): Promise<unknown> {
  const bytes = await bytesOf(id);
  return bytes && JSON.parse(new TextDecoder().decode(bytes));
}

/** The comparison, or the head of the report in this file. Fails if the file is incomplete. */
export async function readFile(): Promise<{ comparison: ComparisonFile } | { head: ReportHead }> {
  const comparison = await readJson(COMPARISON_ID);
  if (comparison !== undefined) return { comparison: comparison as ComparisonFile };
  const head = await readJson(HEAD_ID);
  if (head === undefined) throw new Error('The file is incomplete. Make it again with --html.');
  return { head: head as ReportHead };
}

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
