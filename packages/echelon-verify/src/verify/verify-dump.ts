/**
 * Verifies another trainer's dump. Its estimator is stated by the caller, found in the run's configuration, or inferred; the
 * report says which, and an inferred one is never ok.
 */

import { cut } from 'command-kit/cut';
import { counted } from 'command-kit/plural';
import { present } from '../base/present.ts';
import type { DumpAdapter, DumpStep } from '../dumps/adapter.ts';
import { batchOf } from '../dumps/dump-batch.ts';
import { configured, type DumpRun, runsOf } from '../dumps/runs.ts';
import { type Batch, type BatchEstimator, estimatorFrom } from '../format/batch.ts';
import { BatchFormatError } from '../format/format-error.ts';
import { progressed } from '../format/reading.ts';
import { estimate } from '../identify/estimate.ts';
import { errorsFirst, finding, some } from '../report/findings.ts';
import type { BatchReport, Finding } from '../report/report.ts';
import { lookCut } from './cut-groups.ts';
import {
  type Configuration,
  contextOf,
  type DumpContext,
  hasAdvantages,
  hasUnknownGroups,
  NONE_FITS,
  type StatedDump,
} from './dump-context.ts';
import { type ReadStep, readStep } from './dump-readings.ts';
import { followFromOtherRewards } from './other-rewards.ts';
import {
  NO_SIGNAL,
  nonFiniteFindings,
  type SignalHealth,
  signalFindings,
  signalOf,
  zeroFindings,
} from './signal.ts';
import { unreportedRows, unverifiedReport, verifyBatch } from './verify-batch.ts';

export { type Configuration, configurationText, type StatedDump } from './dump-context.ts';

/** What was found of one step. */
export interface DumpReport extends BatchReport {
  readonly file: string;
  /** The folder of the run that wrote the file. */
  readonly run: string;
  readonly format: string;
  readonly configuration: Configuration;
  readonly signal: SignalHealth;
  /** Rows of the dump; `rows` are those that count. */
  readonly rowsInDump: number;
  /** Nothing is wrong, and yet the step is not verified: its estimator was inferred, or it has no advantages. */
  readonly consistent: boolean;
  /** What the advantages of the first group with signal should be. */
  readonly example?: { readonly group: string; readonly rewards: number[]; readonly advantages: number[] };
}

/**
 * Verifies files of one trainer, which are in step order, each by the configuration of its own run. Holds one step at a
 * time. Throws a BatchFormatError.
 */
export async function* verifyDump(
  adapter: DumpAdapter,
  files: readonly string[],
  stated: StatedDump = {},
): AsyncGenerator<DumpReport> {
  for await (const { report } of verifySteps(adapter, files, stated)) yield report;
}

/** As {@link verifyDump}, with the batch of each step. */
export async function* verifySteps(
  adapter: DumpAdapter,
  files: readonly string[],
  stated: StatedDump = {},
): AsyncGenerator<{ report: DumpReport; batch: Batch }> {
  for (const run of runsOf(adapter, files)) yield* verifyRun(adapter, run, stated);
}

async function* verifyRun(
  adapter: DumpAdapter,
  { run, files }: DumpRun,
  stated: StatedDump,
): AsyncGenerator<{ report: DumpReport; batch: Batch }> {
  let previous: Batch | undefined;
  for (const part of await configured(adapter, files)) {
    const context = await contextOf(adapter, part, stated);
    for await (const step of adapter.steps(part.files, context.options)) {
      const estimator = context.estimator ?? adapter.estimators[0] ?? estimatorFrom('grpo');
      const read = readStep(step, estimator);
      const batch = batchOf(read.step, estimator);
      const report = reportOn({ ...read, batch, previous }, adapter, context);
      previous = batch;
      progressed();
      yield { report: { ...report, run }, batch };
    }
  }
}

type Read = ReadStep & { readonly batch: Batch; readonly previous: Batch | undefined };

function reportOn(read: Read, adapter: DumpAdapter, context: DumpContext): Omit<DumpReport, 'run'> {
  const { step, batch } = read;
  const { configuration } = context;
  const own = [...step.findings, ...unreadableFinding(configuration)];
  const rowsInDump = step.rowsInDump ?? step.reward.length;
  const signal = signalOf(step);
  const base = { file: step.file, format: adapter.name, configuration, signal, rowsInDump };
  const about = { name: step.name, rows: batch.rows, fingerprint: configuration.fingerprint ?? '' };
  const found = unjudged(read, context, own) ?? judged(read, context, own);
  // Of unknown rewards nothing follows from their signs.
  const isOpen = found.findings.some(
    ({ code }) => code === 'rewards-unknown' || code === 'rewards-incomplete',
  );
  const ofSignal =
    step.unjudged === undefined ? signalFindings(step, signal, found.ok === true || isOpen) : [];
  const findings = errorsFirst([...found.findings, ...ofSignal]);
  return { ...unverifiedReport(about, ''), ...base, ...found, findings };
}

/** What is added to the report of a step of which nothing is verified. */
type Found = Pick<DumpReport, 'findings' | 'consistent'> & Partial<DumpReport>;

/** Why no row is judged; undefined if rows are. */
function unjudged({ step, reading }: Read, context: DumpContext, own: readonly Finding[]): Found | undefined {
  // Rows that are not those of the training, or not all of their rewards: what is found of them is no fault.
  if (step.unjudged !== undefined) return { findings: [step.unjudged], signal: NO_SIGNAL, consistent: true };
  const unrewarded = unrewardedFinding(step, context.estimator);
  if (unrewarded !== undefined) return { findings: [...own, unrewarded], consistent: !own.some(isError) };
  if (context.estimator === undefined && !hasAdvantages(step) && !isUnsupported(context)) {
    const missing = finding('advantages-missing', 'There are no advantages, and no estimator is stated.');
    return { findings: [...own, missing], consistent: !own.some(isError) };
  }
  const isUngrouped = hasUnknownGroups(step);
  const unknown = isUngrouped ? [] : unknownFindings(context, reading);
  if (unknown.length === 0 && !isUngrouped) return undefined;
  const impossible = [...zeroFindings(step), ...nonFiniteFindings(step)];
  const findings = [...own, ...impossible, ...unknown];
  // That no group is known contradicts nothing; that no known formula fits does.
  return { findings, consistent: unknown.length === 0 && !findings.some(isError) };
}

/** True if the configuration states an estimator that is not supported. */
const isUnsupported = ({ configuration }: DumpContext): boolean => configuration.file !== undefined;

const isError = ({ severity }: Finding): boolean => severity === 'error';

function judged(
  { step, reading, batch, previous }: Read,
  context: DumpContext,
  own: readonly Finding[],
): Found {
  const { configuration, columns } = context;
  const report = verifyBatch(batch, previous);
  const stated = [
    ...rowCountFinding(step.rowsInDump ?? step.reward.length, context),
    ...columnsFinding(context),
  ];
  const isUnrecorded = report.wrong > 0 && !areFunctionsRecorded(step, context);
  // An error of the dump, or an evaluation, tells enough of the rows that do not fit.
  const isExplained = step.doubtful !== undefined || [...own, ...stated].some(isError);
  if (isUnrecorded && !isExplained && followFromOtherRewards(batch, report.wrongRows, previous)) {
    const missing = finding('rewards-incomplete', OTHER_REWARDS);
    return { findings: [...own, ...stated, missing], consistent: false };
  }
  if (report.wrong > 0 && step.groupSize === undefined && !isExplained && lookCut(batch)) {
    const text = 'These look like parts of larger groups.';
    return { findings: [...own, ...stated, finding('groups-cut', text)], consistent: false };
  }
  // A formula can give 0 for different rewards, as pass@k does; then nothing is wrong with it.
  const zeros = report.wrong > 0 || report.unverifiable > 0 ? zeroFindings(step) : [];
  // Rows without a reward are out of their groups: the sizes of these say nothing.
  const isReduced = step.rowsInDump !== undefined && step.rowsInDump > batch.rows;
  const ofBatch = report.findings.filter(({ code }) => !(isReduced && code === 'group-sizes-differ'));
  const unrecorded = isUnrecorded ? [finding('rewards-unrecorded', UNRECORDED)] : [];
  const findings = [...own, ...stated, ...zeros, ...ofBatch, ...unrecorded];
  const sound = report.wrong === 0 && !findings.some(isError);
  if (!sound && step.doubtful !== undefined) return { findings: [step.doubtful], consistent: false };
  const isProof =
    columns === undefined && reading === 'one' && ['stated', 'found'].includes(configuration.origin);
  const verified = sound && isProof && report.unverifiable === 0;
  const nothingToVerify = !hasAdvantages(step);
  return {
    ...report,
    findings,
    ok: verified,
    consistent:
      sound && !verified && (nothingToVerify || report.unverifiable === unreportedRows(batch).length),
    ...present({ example: nothingToVerify ? exampleOf(step, batch.estimator) : undefined }),
  };
}

/** A step that has not the rows that the configuration of the run gives each step. */
function rowCountFinding(rows: number, { options: { rowsPerStep } }: DumpContext): Finding[] {
  if (rowsPerStep === undefined || rows === rowsPerStep) return [];
  const text = `By the run's configuration a step has ${counted(rowsPerStep, 'row')}, this one has ${rows.toLocaleString('en-US')}.`;
  return [finding(rows < rowsPerStep ? 'rows-missing' : 'rows-surplus', text)];
}

function columnsFinding({ columns }: DumpContext): Finding[] {
  if (columns === undefined) return [];
  const { used, of } = columns;
  const text = `The advantages follow from ${some(used)} alone, not from the sum over ${some(of)}.`;
  return [finding('rewards-inferred', text)];
}

function unreadableFinding({ file, unreadable }: Configuration): Finding[] {
  if (unreadable === undefined) return [];
  return [finding('configuration-unreadable', `The configuration ${file} cannot be read: ${unreadable}.`)];
}

/** Rows without a reward: what they count as is the estimator's, if it says so. */
function unrewardedFinding(
  { unrewarded }: DumpStep,
  estimator: BatchEstimator | undefined,
): Finding | undefined {
  if (unrewarded === undefined) return undefined;
  const params = estimator?.params ?? {};
  if ('missing' in params && params.missing !== 'propagate') return undefined;
  const rows = [...unrewarded.keys()].filter((row) => unrewarded[row] === 1);
  return finding('rewards-missing', `${counted(rows.length, 'row')} (row ${some(rows, 3)}).`, rows);
}

/** Why no row can be judged: there is no estimator, or it explains none of the readings of the step. */
function unknownFindings(
  { configuration, estimator, unexplained }: DumpContext,
  reading: ReadStep['reading'],
): Finding[] {
  if (estimator !== undefined && reading !== 'none fits') return [];
  const { fingerprint, reason = NONE_FITS } = configuration;
  const unread = `${fingerprint} explains the advantages in no way to group the rows, such as one group for each run of equal prompts`;
  const why = estimator === undefined ? reason : unread;
  const text = `${why.slice(0, 1).toUpperCase()}${why.slice(1)}.`;
  return [
    unexplained === undefined ? finding('configuration-unknown', text) : finding('rewards-unknown', text),
  ];
}

/** False if nothing tells whether the dump has the values of every reward function. */
function areFunctionsRecorded({ sharesColumns }: DumpStep, { options }: DumpContext): boolean {
  return sharesColumns !== true || options.functions !== undefined || options.rewards !== undefined;
}

const UNRECORDED =
  'Nothing beside the dump tells how many reward functions the run has, and those of one name share a column.';
const OTHER_REWARDS = `The advantages of every group are those of other rewards: one seems to be missing. ${UNRECORDED} If the columns are all, keep trainer_state.json beside the dump, or state them with --rewards.`;

/** The first group whose rewards differ, with the advantages that the estimator gives it. */
function exampleOf(step: DumpStep, estimator: BatchEstimator): DumpReport['example'] {
  const { group, reward } = step;
  const first = group.names.map(() => -1);
  const differs = group.ids.findIndex((id, row) => {
    if (first[id] === -1) first[id] = row;
    return reward[first[id]!] !== reward[row];
  });
  if (differs === -1) return undefined;
  const g = group.ids[differs]!;
  const rows = Array.from(group.ids.keys()).filter((row) => group.ids[row] === g);
  const advantage = valuesOf(step, estimator);
  if (advantage === undefined) return undefined;
  return {
    group: cut(group.names[g]!),
    rewards: rows.map((row) => reward[row]!),
    advantages: rows.map((row) => advantage[row]!),
  };
}

/** What the estimator gives; undefined if the dump lacks a column that it needs. */
function valuesOf(step: DumpStep, estimator: BatchEstimator): Float64Array | undefined {
  try {
    return estimate(batchOf(step, estimator)).advantage;
  } catch (error) {
    if (error instanceof BatchFormatError) return undefined;
    throw error;
  }
}

/** Steps below which no number of rows is usual. */
const MIN_STEPS = 3;

/** The reports with a warning at each step that has not as many rows as most steps of the run have. */
export function withRowsCompared<R extends BatchReport & { readonly rowsInDump?: number }>(
  reports: readonly R[],
): R[] {
  const frequency = new Map<number, number>();
  const rowsOf = ({ rowsInDump, rows }: R): number => rowsInDump ?? rows;
  for (const report of reports) frequency.set(rowsOf(report), (frequency.get(rowsOf(report)) ?? 0) + 1);
  const [usual, times] = [...frequency].sort(([, a], [, b]) => b - a)[0] ?? [0, 0];
  if (reports.length < MIN_STEPS || 2 * times <= reports.length) return [...reports];
  return reports.map((report) => {
    if (rowsOf(report) === usual || report.findings.some(({ code }) => code === 'evaluation-rows'))
      return report;
    const text = `The step has ${counted(rowsOf(report), 'row')}, most steps have ${usual.toLocaleString('en-US')}.`;
    return { ...report, findings: [...report.findings, finding('rows-differ', text)] };
  });
}
