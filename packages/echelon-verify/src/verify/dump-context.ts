/**
 * The context in which the steps of a dump are judged: the estimator with its origin, the columns that are rewards, and what
 * else the configuration of their run states.
 */

import type { Precision } from '../arithmetic/arithmetic.ts';
import type { DumpAdapter, DumpOptions, DumpStep } from '../dumps/adapter.ts';
import { batchOf } from '../dumps/dump-batch.ts';
import { type Fit, MIN_SHARE } from '../dumps/infer.ts';
import type { ConfiguredFiles } from '../dumps/runs.ts';
import { type BatchEstimator, batchFingerprint, estimatorFrom } from '../format/batch.ts';
import type { ParameterValue } from '../kernel/estimators/parameters.ts';
import { changeParameters } from '../kernel/estimators/parameters.ts';
import type { EstimatorName } from '../kernel/estimators/registry.ts';
import { estimatorOf } from '../kernel/estimators/registry.ts';
import { some } from '../report/findings.ts';
import { inferReading } from './dump-readings.ts';
import { signalOf } from './signal.ts';
import { verifyBatch } from './verify-batch.ts';

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

/** A context, as far as it is known. */
export interface DumpContext {
  readonly configuration: Configuration;
  readonly estimator?: BatchEstimator;
  readonly options: DumpOptions;
  /** The reward columns, if they were found by trying. */
  readonly columns?: { readonly used: readonly string[]; readonly of: readonly string[] };
  /** The columns that can be rewards, if no choice of them explains the advantages. */
  readonly unexplained?: readonly string[];
}

/** The context of files of one run with one configuration. Throws a BatchFormatError. */
export async function contextOf(
  adapter: DumpAdapter,
  part: ConfiguredFiles,
  stated: StatedDump,
): Promise<DumpContext> {
  const { estimator: _name, params: _params, precision: _precision, ...own } = stated;
  const options: DumpOptions = { ...part.found?.options, ...own };
  const [file] = part.files;
  const choices = file === undefined ? [] : ((await adapter.rewardChoices?.(file, options)) ?? []);
  const usual = await withOptions(adapter, part, stated, options);
  const [of, ...others] = choices;
  if (of === undefined || others.length === 0 || isUnsupported(part)) return usual;
  let best = { context: usual, ...(await explainedBy(adapter, part.files, usual)), used: of };
  for (const used of others) {
    if (best.share === 1) break;
    const context = await withOptions(adapter, part, stated, { ...options, rewards: used });
    const own = await explainedBy(adapter, part.files, context);
    if (own.share > best.share) best = { context, ...own, used };
  }
  // A step of which every row fits is no chance: then the other steps are wrong.
  if (best.share < MIN_SHARE && !best.hasWhole) {
    const reason = `no choice of reward columns among ${some(of)} explains the advantages`;
    return { configuration: { origin: 'unknown', reason }, options, unexplained: of };
  }
  return best.used === of ? best.context : { ...best.context, columns: { used: best.used, of } };
}

function isUnsupported({ found }: ConfiguredFiles): boolean {
  return found !== undefined && 'unsupported' in found.estimator;
}

/** The share of the rows tried that are not wrong in a context, and whether some step with a signal has no wrong row. */
async function explainedBy(
  adapter: DumpAdapter,
  files: readonly string[],
  { estimator, options }: DumpContext,
): Promise<{ share: number; hasWhole: boolean }> {
  if (estimator === undefined) return { share: 0, hasWhole: false };
  const steps = await triedSteps(adapter, files, options);
  const reports = steps.map((step) => verifyBatch(batchOf(step, estimator)));
  const hasWhole = steps.some((step, at) => reports[at]!.wrong === 0 && signalOf(step).rowsWithSignal > 0);
  const rows = reports.reduce((sum, report) => sum + report.rows, 0);
  const wrong = reports.reduce((sum, report) => sum + report.wrong, 0);
  return { share: rows === 0 ? 1 : 1 - wrong / rows, hasWhole };
}

async function withOptions(
  adapter: DumpAdapter,
  { found, files }: ConfiguredFiles,
  { estimator: name, params, precision }: StatedDump,
  options: DumpOptions,
): Promise<DumpContext> {
  if (name !== undefined || params !== undefined) {
    const estimator = inPrecision(statedEstimator(usualOf(adapter, found, name), params), precision);
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

/** The estimator that the run states, if none is named; else the trainer's own of that name, or the recipe's. */
function usualOf(
  { estimators }: DumpAdapter,
  found: ConfiguredFiles['found'],
  name: EstimatorName | undefined,
): BatchEstimator {
  if (name === undefined && found !== undefined && 'name' in found.estimator) return found.estimator;
  const own = estimators.find((one) => name === undefined || one.name === name);
  return own ?? estimatorFrom(name ?? 'grpo');
}

/** The estimator with the stated parameters. Throws a RangeError for one that it does not have. */
function statedEstimator(base: BatchEstimator, params: StatedDump['params'] = {}): BatchEstimator {
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

/** The first steps that hold rows of the training. */
async function triedSteps(
  adapter: DumpAdapter,
  files: readonly string[],
  options: DumpOptions,
): Promise<DumpStep[]> {
  const steps: DumpStep[] = [];
  let rows = 0;
  for await (const step of adapter.steps(files, options)) {
    if (step.unjudged !== undefined) continue;
    steps.push(step);
    rows += step.reward.length;
    if (steps.length === MAX_TRIED_STEPS || rows > MAX_TRIED_ROWS) break;
  }
  return steps;
}

async function inferred(
  adapter: DumpAdapter,
  files: readonly string[],
  options: DumpOptions,
  precision: Precision | undefined,
): Promise<DumpContext> {
  const steps = await triedSteps(adapter, files, options);
  const [first] = adapter.estimators;
  const usual = first && inPrecision(first, precision);
  if (usual !== undefined && !steps.some(hasAdvantages)) {
    const configuration: Configuration = { origin: 'default', fingerprint: batchFingerprint(usual) };
    return { configuration, estimator: usual, options };
  }
  if (steps.length > 0 && !steps.some(hasAdvantages))
    return { configuration: { origin: 'unknown', reason: NO_ADVANTAGES }, options };
  if (steps.length > 0 && steps.every(hasUnknownGroups))
    return { configuration: { origin: 'unknown', reason: NO_GROUPS }, options };
  const { best, others } = inferReading(steps, adapter.estimators, precision);
  if (best === undefined) return { configuration: { origin: 'unknown', reason: NONE_FITS }, options };
  return { configuration: inferredFrom(best, others), estimator: best.estimator, options };
}

/** Why there is no estimator for a table of rewards. */
const NO_ADVANTAGES =
  'there are no advantages to verify, and no estimator is stated (--estimator) that says what they should be';

const NO_GROUPS = 'nothing tells which rows are one group';

/** Why there is no estimator, if nothing else is known. */
export const NONE_FITS = 'no known estimator explains the advantages';

function inferredFrom(best: Fit, others: readonly Fit[]): Configuration {
  return {
    origin: 'inferred',
    fingerprint: batchFingerprint(best.estimator),
    alternatives: others.map(({ estimator }) => batchFingerprint(estimator)),
    share: best.share,
  };
}

/** True if the step has advantages to verify. */
export function hasAdvantages({ advantage, tokens }: DumpStep): boolean {
  return (advantage ?? tokens?.reportedAdvantage) !== undefined;
}

/** True if nothing tells which rows of the step are one group. */
export function hasUnknownGroups({ findings }: DumpStep): boolean {
  return findings.some(({ code }) => code === 'group-size-unknown');
}
