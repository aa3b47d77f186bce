/**
 * Verifies another trainer's dump. Its estimator is stated by the caller, found in the run's configuration, or inferred; the
 * report says which, and an inferred one is never ok.
 */

import { counted } from '../core/plural.ts';
import type { ParameterValue } from '../kernel/estimators/parameters.ts';
import { changeParameters } from '../kernel/estimators/parameters.ts';
import type { EstimatorName } from '../kernel/estimators/registry.ts';
import { estimatorOf } from '../kernel/estimators/registry.ts';
import type { Precision } from './bounds/arithmetic.ts';
import { estimate } from './explain/estimate.ts';
import { type Batch, type BatchEstimator, batchFingerprint } from './format/batch.ts';
import type { DumpAdapter, DumpOptions, DumpStep } from './format/dumps/adapter.ts';
import { batchOf, estimatorFrom } from './format/dumps/dump-batch.ts';
import { type Fit, inferEstimator } from './format/dumps/infer.ts';
import { type ConfiguredFiles, configured, type DumpRun, runsOf } from './format/dumps/runs.ts';
import { BatchFormatError } from './format/format-error.ts';
import { present } from './present.ts';
import { finding } from './provenance/findings.ts';
import { type SignalHealth, signalOf, zeroFindings } from './provenance/signal.ts';
import type { BatchReport, Finding } from './report.ts';
import { unverifiedReport, verifyBatch } from './verify-batch.ts';

/** What the caller states of a dump. */
export interface StatedDump extends DumpOptions {
  readonly estimator?: EstimatorName;
  readonly params?: Readonly<Record<string, ParameterValue>>;
  /** The arithmetic of the trainer. Default: the trainer's usual one. */
  readonly precision?: Precision;
}

/** Where the estimator of a dump comes from. */
export interface Configuration {
  /** `default`: the dump has no advantages, so that nothing depends on it but what they should be. */
  readonly origin: 'stated' | 'found' | 'inferred' | 'default' | 'unknown';
  /** The estimator in one line; undefined if it is unknown. */
  readonly fingerprint?: string;
  /** The configuration file. */
  readonly file?: string;
  /** Why the configuration file could not be read: then the estimator is inferred. */
  readonly unreadable?: string;
  /** Estimators that explain the advantages as well, if it was inferred. */
  readonly alternatives?: readonly string[];
  /** Share of the rows tried that it explains, if it was inferred. */
  readonly share?: number;
  /** Why there is none. */
  readonly reason?: string;
}

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

/** The estimator of a dump and its origin, for people. */
export function configurationText(configuration: Configuration): string {
  const { origin, fingerprint, file, alternatives = [], share = 1, reason = '' } = configuration;
  if (origin === 'unknown') return `unknown: ${reason}`;
  if (origin === 'found') return `${fingerprint}, found in ${file}`;
  if (origin === 'stated') return `${fingerprint}, as stated`;
  if (origin === 'default')
    return `${fingerprint}, the trainer's default (the dump has no advantages to check)`;
  const explains =
    share === 1 ? 'explains all rows tried' : `explains ${(share * 100).toFixed(1)} % of the rows tried`;
  const others =
    alternatives.length === 0
      ? 'the only known one'
      : `so ${does(alternatives.length)} ${alternatives.join(', ')}`;
  return `${fingerprint}, inferred: it ${explains}, ${others}`;
}

function does(others: number): string {
  return others === 1 ? 'does' : 'do';
}

interface Chosen {
  readonly configuration: Configuration;
  readonly estimator?: BatchEstimator;
  readonly options: DumpOptions;
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
  for (const part of await configured(adapter, files)) {
    const chosen = await choose(adapter, part, stated);
    for await (const step of adapter.steps(part.files, chosen.options)) {
      const estimator = chosen.estimator ?? adapter.estimators[0] ?? estimatorFrom({ name: 'grpo' });
      const batch = batchOf(step, estimator);
      const report = reportOn({ step, batch }, adapter, chosen);
      yield { report: { ...report, run }, batch };
    }
  }
}

async function choose(
  adapter: DumpAdapter,
  { found, files }: ConfiguredFiles,
  stated: StatedDump,
): Promise<Chosen> {
  const { estimator: name, params, precision, ...own } = stated;
  const options: DumpOptions = { ...found?.options, ...own };
  if (name !== undefined || params !== undefined) {
    const estimator = inPrecision(statedEstimator(adapter, name, params), precision);
    return {
      configuration: { origin: 'stated', fingerprint: batchFingerprint(estimator) },
      estimator,
      options,
    };
  }
  if (found !== undefined && 'name' in found.estimator) {
    const { file } = found;
    const estimator = inPrecision(found.estimator, precision);
    return {
      configuration: { origin: 'found', fingerprint: batchFingerprint(estimator), file },
      estimator,
      options,
    };
  }
  if (found !== undefined && 'unsupported' in found.estimator) {
    const reason = `the configuration ${found.file} states ${found.estimator.unsupported}, which is not supported yet`;
    return { configuration: { origin: 'unknown', file: found.file, reason }, options };
  }
  const chosen = await inferred(adapter, files, options, precision);
  if (found === undefined || !('unreadable' in found.estimator)) return chosen;
  const { unreadable } = found.estimator;
  return { ...chosen, configuration: { ...chosen.configuration, file: found.file, unreadable } };
}

function inPrecision(estimator: BatchEstimator, precision: Precision | undefined): BatchEstimator {
  return precision === undefined ? estimator : { ...estimator, precision };
}

/** The trainer's own estimator of that name with the stated parameters; of an unknown trainer the recipe's. */
function statedEstimator(
  adapter: DumpAdapter,
  name: EstimatorName | undefined,
  params: StatedDump['params'] = {},
): BatchEstimator {
  const usual = adapter.estimators.find((one) => name === undefined || one.name === name);
  const base = usual ?? estimatorFrom({ name: name ?? 'grpo' });
  const { parameters } = estimatorOf(base.name);
  for (const key of Object.keys(params)) {
    if (!(key in parameters)) {
      const known = Object.keys(parameters).join(', ');
      throw new RangeError(`${base.name} has no parameter ${JSON.stringify(key)}; it has ${known}`);
    }
  }
  const changed = changeParameters(parameters, base.params, params) as BatchEstimator['params'];
  return { ...base, params: changed };
}

/** Steps on which estimators are tried at most, and rows. */
const MAX_TRIED_STEPS = 8;
const MAX_TRIED_ROWS = 5_000;

async function inferred(
  adapter: DumpAdapter,
  files: readonly string[],
  options: DumpOptions,
  precision: Precision | undefined,
): Promise<Chosen> {
  const steps: DumpStep[] = [];
  let rows = 0;
  for await (const step of adapter.steps(files, options)) {
    steps.push(step);
    rows += step.reward.length;
    if (steps.length === MAX_TRIED_STEPS || rows > MAX_TRIED_ROWS) break;
  }
  const [first] = adapter.estimators;
  const usual = first && inPrecision(first, precision);
  if (usual !== undefined && !steps.some(hasAdvantages)) {
    const configuration: Configuration = { origin: 'default', fingerprint: batchFingerprint(usual) };
    return { configuration, estimator: usual, options };
  }
  const { best, others } = inferEstimator(steps, adapter.estimators, precision);
  if (best === undefined) return { configuration: { origin: 'unknown', reason: NONE_FITS }, options };
  return { configuration: inferredFrom(best, others), estimator: best.estimator, options };
}

const NONE_FITS = 'no known estimator explains the advantages';

function inferredFrom(best: Fit, others: readonly Fit[]): Configuration {
  return {
    origin: 'inferred',
    fingerprint: batchFingerprint(best.estimator),
    alternatives: others.map(({ estimator }) => batchFingerprint(estimator)),
    share: best.share,
  };
}

function reportOn(
  { step, batch }: { step: DumpStep; batch: Batch },
  adapter: DumpAdapter,
  { configuration, estimator }: Chosen,
): Omit<DumpReport, 'run'> {
  const own = [...step.findings, ...unreadableFinding(configuration)];
  const rowsInDump = step.rowsInDump ?? step.reward.length;
  const base = { file: step.file, format: adapter.name, configuration, signal: signalOf(step), rowsInDump };
  const ungrouped = own.some(({ code }) => code === 'group-size-unknown');
  if (estimator === undefined || ungrouped) {
    const about = { name: step.name, rows: batch.rows, fingerprint: configuration.fingerprint ?? '' };
    const findings = sorted([
      ...own,
      ...zeroFindings(step),
      ...(estimator === undefined ? [unknownFinding(configuration)] : []),
    ]);
    return { ...unverifiedReport(about, ''), findings, ...base, consistent: false };
  }
  const report = verifyBatch(batch);
  // A formula can give 0 for different rewards, as pass@k does; then nothing is wrong with it.
  const zeros = report.wrong > 0 || report.unverifiable > 0 ? zeroFindings(step) : [];
  // Rows without a reward are out of their groups: the sizes of these say nothing.
  const isReduced = step.rowsInDump !== undefined && step.rowsInDump > batch.rows;
  const ofBatch = report.findings.filter(({ code }) => !(isReduced && code === 'group-sizes-differ'));
  const findings = sorted([...own, ...zeros, ...ofBatch]);
  const sound = report.wrong === 0 && findings.every(({ severity }) => severity !== 'error');
  const isProof = configuration.origin === 'stated' || configuration.origin === 'found';
  const verified = sound && isProof && report.unverifiable === 0;
  const nothingToVerify = !hasAdvantages(step);
  return {
    ...report,
    findings,
    ok: verified,
    ...base,
    consistent: sound && !verified && (nothingToVerify || report.unverifiable === 0),
    ...present({ example: nothingToVerify ? exampleOf(step, estimator) : undefined }),
  };
}

function unreadableFinding({ file, unreadable }: Configuration): Finding[] {
  if (unreadable === undefined) return [];
  return [finding('configuration-unreadable', `The configuration ${file} cannot be read: ${unreadable}.`)];
}

function hasAdvantages({ advantage, tokens }: DumpStep): boolean {
  return (advantage ?? tokens?.reportedAdvantage) !== undefined;
}

function unknownFinding({ reason = NONE_FITS }: Configuration): Finding {
  return finding('configuration-unknown', `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}.`);
}

function sorted(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => rank(a) - rank(b));
}

function rank({ severity }: Finding): number {
  return severity === 'error' ? 0 : 1;
}

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
    group: group.names[g]!,
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
    if (rowsOf(report) === usual) return report;
    const text = `The step has ${counted(rowsOf(report), 'row')}, most steps have ${usual.toLocaleString('en-US')}.`;
    return { ...report, findings: [...report.findings, finding('rows-differ', text)] };
  });
}
