import './node/buffer.ts';
import { groupedBy } from '../base/grouped-by.ts';
import type { DumpAdapter } from '../dumps/adapter.ts';
import { type DumpRun, runsOf } from '../dumps/runs.ts';
import type { StepAdapter } from '../dumps/steps/adapter.ts';
import { ALL_ADAPTERS, anyAdapterFor, anyAdapterOf } from '../dumps/steps/registry.ts';
import { explainRow } from '../explain/explain.ts';
import { explainToken } from '../explain/explain-step.ts';
import { rowColumns } from '../explain/row-columns.ts';
import type { Batch } from '../format/batch.ts';
import { joinParts, partOf } from '../format/join-ranks.ts';
import { readRecorded } from '../format/read.ts';
import type { StepBatch } from '../format/step-batch.ts';
import { verifyStep } from '../step/verify-step.ts';
import { recordedStep } from '../verify/recorded-step.ts';
import { tokenColumns } from '../verify/token-columns.ts';
import { verifyBatch } from '../verify/verify-batch.ts';
import { configurationText, type DumpReport, verifySteps, withRowsCompared } from '../verify/verify-dump.ts';
import type { Answers, ChosenFile, Found, Question } from './messages.ts';
import { setFiles } from './node/fs.ts';

/** The global scope of a worker thread of a page. */
declare const addEventListener: (type: 'message', listener: (event: MessageEvent) => void) => void;
declare const postMessage: (message: unknown) => void;

let batches: ({ advantages: Batch } | { step: StepBatch })[] = [];

async function read(files: readonly ChosenFile[], from?: string): Promise<Found> {
  setFiles(files);
  batches = [];
  const found: Found = { reports: [], dumps: [], skipped: [] };
  const byAdapter = new Map<DumpAdapter | StepAdapter, string[]>();
  const parts: StepBatch[] = [];
  for (const { path, file } of files.toSorted(byPath)) {
    const kind = from === undefined ? await anyAdapterFor(path) : anyAdapterOf(from);
    if (kind === 'native' || (kind === undefined && files.length === 1))
      parts.push(...addRecorded(new Uint8Array(await file.arrayBuffer()), path, found));
    else if (kind === undefined) found.skipped.push(path);
    else byAdapter.set(kind, [...(byAdapter.get(kind) ?? []), path]);
  }
  for (const own of groupedBy(parts, partOf).values())
    for (const step of joinParts(own)) addStep(step, found);
  for (const [adapter, paths] of byAdapter) {
    if ('estimators' in adapter) for (const run of runsOf(adapter, paths)) await readRun(adapter, run, found);
    else for await (const { step } of adapter.steps(paths)) addStep(step, found);
  }
  return found;
}

/** Adds the reports of a file. Returns the steps of which it has some of the ranks. */
function addRecorded(bytes: Uint8Array, path: string, found: Found): StepBatch[] {
  const recorded = readRecorded(bytes, path);
  if ('steps' in recorded) {
    for (const step of recorded.steps) if (partOf(step) === undefined) addStep(step, found);
    return recorded.steps.filter((step) => partOf(step) !== undefined);
  }
  const own = recorded.batches;
  batches.push(...own.map((advantages) => ({ advantages })));
  found.reports.push(...own.map((batch, at) => verifyBatch(batch, own[at - 1])));
  return [];
}

function addStep(step: StepBatch, found: Found): void {
  const report = verifyStep(step);
  batches.push({ step });
  found.reports.push({ ...recordedStep(step, report), consistent: report.consistent && !report.ok });
}

/** Adds the reports of a run, and what is said of it once. */
async function readRun(adapter: DumpAdapter, { run, files }: DumpRun, found: Found): Promise<void> {
  const reports: DumpReport[] = [];
  for await (const { report, batch } of verifySteps(adapter, files)) {
    batches.push({ advantages: batch });
    reports.push(report);
  }
  found.reports.push(...withRowsCompared(reports));
  const estimators = new Set(reports.map(({ configuration }) => configurationText(configuration)));
  for (const estimator of estimators) found.dumps.push({ title: adapter.title, run, estimator });
}

/** Step 2 comes before step 10. */
const byPath = (a: ChosenFile, b: ChosenFile) => a.path.localeCompare(b.path, 'en', { numeric: true });

async function answer(question: Question): Promise<Answers[keyof Answers]> {
  if (question.kind === 'formats') return ALL_ADAPTERS.map(({ name, title }) => ({ name, title }));
  if (question.kind === 'read') return await read(question.files, question.from);
  const batch = batches[question.at]!;
  if ('step' in batch) {
    if (question.kind === 'tokens') return tokenColumns(batch.step, question.row);
    if (question.kind === 'token') return explainToken(batch.step, question.row, question.position);
    throw new RangeError('an optimizer step has tokens, and no advantages');
  }
  if (question.kind === 'rows') return rowColumns(batch.advantages, { first: 0, count: 10_000 });
  return explainRow(batch.advantages, question.row);
}

addEventListener('message', ({ data }) => {
  const { id, question } = data as { id: number; question: Question };
  answer(question).then(
    (given) => postMessage({ id, answer: given }),
    (error: Error) => postMessage({ id, error: error.message }),
  );
});
