import './node/buffer.ts';
import { explainRow } from '../explain/explain.ts';
import { rowColumns } from '../explain/row-columns.ts';
import type { Batch } from '../format/batch.ts';
import type { DumpAdapter } from '../format/dumps/adapter.ts';
import { adapterFor } from '../format/dumps/registry.ts';
import { type DumpRun, runsOf } from '../format/dumps/runs.ts';
import { readBatchFile } from '../format/read.ts';
import { verifyBatch } from '../verify-batch.ts';
import { configurationText, type DumpReport, verifySteps, withRowsCompared } from '../verify-dump.ts';
import type { Answers, ChosenFile, Found, Question } from './messages.ts';
import { setFiles } from './node/fs.ts';

/** The global scope of a worker thread of a page. */
declare const addEventListener: (type: 'message', listener: (event: MessageEvent) => void) => void;
declare const postMessage: (message: unknown) => void;

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
  const reports: DumpReport[] = [];
  for await (const { report, batch } of verifySteps(adapter, files)) {
    batches.push(batch);
    reports.push(report);
  }
  found.reports.push(...withRowsCompared(reports));
  const estimators = new Set(reports.map(({ configuration }) => configurationText(configuration)));
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

addEventListener('message', ({ data }) => {
  const { id, question } = data as { id: number; question: Question };
  answer(question).then(
    (given) => postMessage({ id, answer: given }),
    (error: Error) => postMessage({ id, error: error.message }),
  );
});
