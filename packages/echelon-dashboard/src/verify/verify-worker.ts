import './node/buffer.ts';
import { explainRow, type RowExplanation } from 'echelon-verify/explain/explain';
import { type RowColumns, rowColumns } from 'echelon-verify/explain/row-columns';
import type { Batch } from 'echelon-verify/format/batch';
import type { DumpAdapter } from 'echelon-verify/format/dumps/adapter';
import { adapterFor } from 'echelon-verify/format/dumps/registry';
import { type DumpRun, runsOf } from 'echelon-verify/format/dumps/runs';
import { readBatchFile } from 'echelon-verify/format/read';
import type { BatchReport } from 'echelon-verify/report';
import { verifyBatch } from 'echelon-verify/verify-batch';
import { configurationText, verifySteps, withRowsCompared } from 'echelon-verify/verify-dump';
import { setFiles } from './node/fs.ts';

/** A file that the user chose; `path` begins with the folder, if one was chosen. */
export interface ChosenFile {
  path: string;
  file: File;
}

/** What the page asks; `at` is the index of a batch among all of the files. */
export type Question =
  | { kind: 'read'; files: ChosenFile[] }
  | { kind: 'rows'; at: number }
  | { kind: 'explain'; at: number; row: number };

/** What was found in the files. */
export interface Found {
  /** `consistent`: nothing is wrong, but the step of a dump is not verified. */
  reports: (BatchReport & { consistent?: boolean })[];
  /** For each run of a trainer its format and estimator. */
  dumps: { title: string; run: string; estimator: string }[];
  /** Files that are in no known format, as a run's configuration. */
  skipped: string[];
}

/** The answers by the kind of the question. */
export interface Answers {
  read: Found;
  rows: RowColumns;
  explain: RowExplanation;
}

let batches: Batch[] = [];

async function read(files: readonly ChosenFile[]): Promise<Found> {
  setFiles(files);
  batches = [];
  const found: Found = { reports: [], dumps: [], skipped: [] };
  const byAdapter = new Map<DumpAdapter, string[]>();
  for (const { path, file } of files.toSorted(byPath)) {
    const kind = await adapterFor(path);
    if (kind === 'native' || (kind === undefined && files.length === 1)) {
      const own = readBatchFile(new Uint8Array(await file.arrayBuffer()), path);
      batches.push(...own);
      found.reports.push(...own.map((batch, at) => verifyBatch(batch, own[at - 1])));
    } else if (kind === undefined) found.skipped.push(path);
    else byAdapter.set(kind, [...(byAdapter.get(kind) ?? []), path]);
  }
  for (const [adapter, paths] of byAdapter)
    for (const run of runsOf(adapter, paths)) await readRun(adapter, run, found);
  return found;
}

/** Adds the reports of a run, and what is said of it once. */
async function readRun(adapter: DumpAdapter, { run, files }: DumpRun, found: Found): Promise<void> {
  const steps = await Array.fromAsync(verifySteps(adapter, files));
  batches.push(...steps.map(({ batch }) => batch));
  found.reports.push(...withRowsCompared(steps.map(({ report }) => report)));
  const estimators = new Set(steps.map(({ report }) => configurationText(report.configuration)));
  for (const estimator of estimators) found.dumps.push({ title: adapter.title, run, estimator });
}

/** Step 2 comes before step 10. */
const byPath = (a: ChosenFile, b: ChosenFile) => a.path.localeCompare(b.path, 'en', { numeric: true });

async function answer(question: Question): Promise<Answers[keyof Answers]> {
  if (question.kind === 'read') return await read(question.files);
  const batch = batches[question.at]!;
  if (question.kind === 'rows') return rowColumns(batch, { first: 0, count: 10_000 });
  return explainRow(batch, question.row);
}

addEventListener(
  'message',
  ({ data: { id, question } }: MessageEvent<{ id: number; question: Question }>) => {
    answer(question).then(
      (given) => postMessage({ id, answer: given }),
      (error: Error) => postMessage({ id, error: error.message }),
    );
  },
);
