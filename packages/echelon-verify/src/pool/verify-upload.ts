/** Verifies a file that someone uploaded: the report of `echelon verify --json FILE`, within bounds. */

import { readFile } from 'node:fs/promises';
import type { DumpAdapter, DumpStep } from '../dumps/adapter.ts';
import type { StepAdapter } from '../dumps/steps/adapter.ts';
import { anyAdapterFor, anyAdapterOf } from '../dumps/steps/registry.ts';
import { type Batch, batchFingerprint } from '../format/batch.ts';
import { bytesInWords, stepBytes, verificationBytes } from '../format/budget.ts';
import { type BundleOf, bundleOf, readBundleHead } from '../format/bundle.ts';
import { BatchFormatError } from '../format/format-error.ts';
import { readRecorded } from '../format/read.ts';
import type { StepBatch } from '../format/step-batch.ts';
import type { BatchReport } from '../report/report.ts';
import type { StepFileReport, StepReport } from '../step/model/step-report.ts';
import { unverifiedStep, verifyStep } from '../step/verify-step.ts';
import { createStepJudge } from '../verify/explained-steps.ts';
import { unverifiedReport, verifyBatch } from '../verify/verify-batch.ts';
import { type DumpReport, type StatedDump, verifyDump, withRowsCompared } from '../verify/verify-dump.ts';

/** A file on disk, and what is stated of it. */
export interface FileTask {
  readonly path: string;
  /** The name in the report and in messages. */
  readonly name: string;
  /** The adapter that reads the file. Default: the content decides. */
  readonly from?: string | undefined;
  readonly stated?: StatedDump;
  readonly budgetBytes: number;
}

/** The report of one batch or step of a file. */
export type FileReport = DumpReport | (BatchReport & { readonly file: string; readonly bundle?: BundleOf });

/** The reports of a file: those of its batches of advantages, and those of its optimizer steps. */
export interface FileReports {
  readonly batches: readonly FileReport[];
  readonly steps: readonly StepFileReport[];
}

/** Batches and steps of one upload, which bound the size of the answer. */
export const MAX_BATCHES = 1_000;
/** Rows of one upload. */
export const MAX_ROWS = 200_000;

/** The reports of the file. Throws a BatchFormatError, or a RangeError for what is stated. */
export async function verifyUpload(task: FileTask): Promise<FileReports> {
  const { path, name, from, stated } = task;
  try {
    const adapter = from === undefined ? await anyAdapterFor(path, stated?.map) : anyAdapterOf(from);
    return inBounds(name, await reportsOf(adapter, task));
  } catch (error) {
    if (!(error instanceof BatchFormatError) || error.file !== path) throw error;
    const { code, batch, field, expected, found } = error;
    throw new BatchFormatError({ code, file: name, batch, field, expected, found }, { cause: error });
  }
}

function reportsOf(adapter: Awaited<ReturnType<typeof anyAdapterFor>>, task: FileTask): Promise<FileReports> {
  if (adapter === undefined || adapter === 'native') return ofRecorded(task);
  return 'estimators' in adapter ? ofDump(adapter, task) : ofSteps(adapter, task);
}

/** Characters of all reports of an upload, as JSON. */
const MAX_ANSWER_CHARACTERS = 2 ** 23;
/** Rows of a list, if the reports are longer with whole lists. */
const FEW_ROWS = 20;

/** The reports, with shorter lists of rows if they are long. Throws a BatchFormatError if they are too long nonetheless. */
export function inBounds(file: string, reports: FileReports): FileReports {
  if (charactersOf(reports) <= MAX_ANSWER_CHARACTERS) return reports;
  const batches = reports.batches.map((report) => ({
    ...report,
    wrongRows: report.wrongRows.slice(0, FEW_ROWS),
    roundingRows: report.roundingRows.slice(0, FEW_ROWS),
    findings: report.findings.map((one) => ({ ...one, rows: one.rows.slice(0, FEW_ROWS) })),
  }));
  const steps = reports.steps.map((report) => ({
    ...report,
    wrongTokens: report.wrongTokens.slice(0, FEW_ROWS),
  }));
  const shorter = { batches, steps };
  if (charactersOf(shorter) <= MAX_ANSWER_CHARACTERS) return shorter;
  const expected = `a file whose reports have at most ${MAX_ANSWER_CHARACTERS} characters`;
  const found = `${batches.length + steps.length} reports`;
  throw new BatchFormatError({ code: 'too-large', file, expected, found });
}

function charactersOf({ batches, steps }: FileReports): number {
  return [...batches, ...steps].reduce((sum, report) => sum + JSON.stringify(report).length, 0);
}

async function ofRecorded({ path, name, budgetBytes }: FileTask): Promise<FileReports> {
  const bytes = await readFile(path);
  // A batch in memory takes its message and its columns.
  const recorded = readRecorded(bytes, name, budgetBytes / 2);
  const count = counter(name);
  for (const { rows } of 'steps' in recorded ? recorded.steps : recorded.batches) count(rows);
  if ('steps' in recorded) {
    const judge = createStepJudge();
    const steps = recorded.steps.map((step) => ({
      file: name,
      ...stepWithin(budgetBytes, step, { ownBytes: bytes.byteLength, judge }),
    }));
    return { batches: [], steps };
  }
  const bundle = readBundleHead(bytes, name);
  const batches = recorded.batches.map((batch) => {
    const report = verifyWithin(budgetBytes, batch, bytes.byteLength);
    return { file: name, ...report, ...(bundle && { bundle: bundleOf(bundle, report) }) };
  });
  return { batches, steps: [] };
}

async function ofDump(adapter: DumpAdapter, { path, name, stated }: FileTask): Promise<FileReports> {
  // The folder of an upload is the server's: it holds no configuration of the run.
  const { find: _none, ...alone } = adapter;
  const bounded = {
    ...alone,
    steps: (...of: Parameters<typeof alone.steps>) => counted(alone.steps(...of), path),
  };
  const reports: DumpReport[] = [];
  for await (const report of verifyDump(bounded, [path], stated))
    reports.push({ ...report, file: name, run: name });
  return { batches: withRowsCompared(reports), steps: [] };
}

async function ofSteps(adapter: StepAdapter, { path, name, budgetBytes }: FileTask): Promise<FileReports> {
  const count = counter(path);
  const judge = createStepJudge();
  const steps: StepFileReport[] = [];
  for await (const { step } of adapter.steps([path])) {
    count(step.rows);
    steps.push({ file: name, ...stepWithin(budgetBytes, step, { ownBytes: 0, judge }) });
  }
  return { batches: [], steps };
}

/** The steps, counted before anything is computed of them. */
async function* counted(steps: AsyncIterable<DumpStep>, file: string): AsyncGenerator<DumpStep> {
  const count = counter(file);
  for await (const step of steps) {
    count(step.rowsInDump ?? step.reward.length);
    yield step;
  }
}

/** The report of a batch that takes `ownBytes`; over the budget, with all rows unverifiable. */
export function verifyWithin(budgetBytes: number, batch: Batch, ownBytes: number): BatchReport {
  const needed = ownBytes + verificationBytes(batch);
  if (needed <= budgetBytes) return verifyBatch(batch);
  const about = {
    name: batch.name,
    rows: batch.rows,
    fingerprint: batchFingerprint(batch.estimator, batch.provenance),
  };
  return unverifiedReport(about, overBudget(needed, budgetBytes));
}

/** The same of a step. */
export function stepWithin(
  budgetBytes: number,
  step: StepBatch,
  { ownBytes, judge = verifyStep }: { ownBytes: number; judge?: (step: StepBatch) => StepReport },
): StepReport {
  const needed = ownBytes + stepBytes(step);
  return needed <= budgetBytes ? judge(step) : unverifiedStep(step, overBudget(needed, budgetBytes));
}

const overBudget = (needed: number, budget: number): string =>
  `It would take about ${bytesInWords(needed)} of memory, ${bytesInWords(budget)} are allowed.`;

/** Counts batches and their rows. Throws a BatchFormatError beyond the limits. */
function counter(file: string): (rows: number) => void {
  let [batches, rows] = [0, 0];
  return (more) => {
    batches += 1;
    rows += more;
    if (batches <= MAX_BATCHES && rows <= MAX_ROWS) return;
    const expected = `at most ${MAX_BATCHES} batches and ${MAX_ROWS} rows`;
    throw new BatchFormatError({ code: 'too-large', file, expected, found: 'more' });
  };
}
