/** Reads the object `step` of a file or of the wire. */

import { present } from '../base/present.ts';
import { MAX_ROWS } from './batch.ts';
import { BatchFormatError, describeValue } from './format-error.ts';
import { faultAt, invalidAt, type Place } from './json-columns.ts';
import { objectOf, refuseSlips, textOf } from './json-fields.ts';
import { isObject, type JsonObject } from './json-params.ts';
import type {
  AggregationSettings,
  CorrectionSettings,
  KlSettings,
  LossSettings,
  MicroBatch,
  OffPolicySettings,
  ReportedValue,
  SamplingSettings,
  SettingValue,
  StepSettings,
} from './step-settings.ts';
import {
  CORRECTION_ACTIONS,
  CORRECTION_LEVELS,
  CORRECTION_STATISTICS,
  COUNTED,
  JOINED,
  MEAN_COUNTS,
  REDUCTIONS,
  REPORTED_KEYS,
  SAMPLED_BY,
  SCOPES,
  STEP_PRECISIONS,
} from './step-settings.ts';

const ROW_COUNTS = ['all', 'trained'] as const;

/** Micro-batches that a step may have at most. */
export const MAX_MICRO_BATCHES = 2 ** 20;

const STEP_KEYS = [
  'optimizerStep',
  'run',
  'trainer',
  'trainerVersion',
  'backend',
  'policyLoss',
  'rolloutCorrection',
  'offPolicyMask',
  'kl',
  'entropyCoefficient',
  'aggregation',
  'dataParallelSize',
  'contextParallelSize',
  'gradientReduction',
  'sampling',
  'precision',
  'maxStaleness',
  'window',
  'rowDigests',
  'sourceDigests',
  'wholeTrajectories',
  'microBatches',
  'reported',
];
const CORRECTION_KEYS = [
  'level',
  'statistic',
  'action',
  'low',
  'high',
  'appliesTo',
  'keptWeight',
  'exponentClamp',
];
const KL_KEYS = [
  'estimator',
  'coefficient',
  'placement',
  'inputClamp',
  'outputClamp',
  'weight',
  'gradientOf',
  'aggregation',
];
const AGGREGATION_KEYS = [
  'mode',
  'scope',
  'counts',
  'rowCount',
  'scaleFactor',
  'denominator',
  'microBatches',
];
const MICRO_BATCH_KEYS = [
  'rank',
  'index',
  'pass',
  'gradientScale',
  'lossScale',
  'reportedLoss',
  'reportedDenominator',
  'reported',
  'width',
];
const WINDOW_KEYS = ['microBatches', 'tokens'];
const SAMPLING_KEYS = ['temperature', 'topP', 'topK', 'minP', 'logProbs'];

/** Reads `step`. Throws a BatchFormatError for a value of the wrong kind and for keys that look like a slip. */
export function readSettings(place: Place, step: JsonObject): StepSettings {
  refuseSlips(place, 'step.', step, STEP_KEYS);
  const count = (field: string, least: number) => countOf(place, step, field, { prefix: 'step.', least });
  const text = (field: string) => textOf(place, step, field, 'step.');
  return {
    microBatches: readMicroBatches(place, step.microBatches),
    reported: readReported(place, objectOf(place, step, 'reported', 'step.') ?? {}),
    ...present({
      optimizerStep: count('optimizerStep', 0),
      run: text('run'),
      trainer: text('trainer'),
      trainerVersion: text('trainerVersion'),
      backend: text('backend'),
      policyLoss: readLoss(place, objectOf(place, step, 'policyLoss', 'step.')),
      rolloutCorrection: readCorrection(place, objectOf(place, step, 'rolloutCorrection', 'step.')),
      offPolicyMask: readOffPolicy(place, objectOf(place, step, 'offPolicyMask', 'step.')),
      kl: readKl(place, objectOf(place, step, 'kl', 'step.')),
      entropyCoefficient: numberOf(place, step, 'entropyCoefficient', 'step.'),
      aggregation: readAggregation(place, objectOf(place, step, 'aggregation', 'step.'), 'step.aggregation.'),
      dataParallelSize: count('dataParallelSize', 1),
      contextParallelSize: count('contextParallelSize', 1),
      gradientReduction: choiceOf(place, step, 'gradientReduction', ['mean', 'sum'] as const, 'step.'),
      sampling: readSampling(place, objectOf(place, step, 'sampling', 'step.')),
      precision: choiceOf(place, step, 'precision', STEP_PRECISIONS, 'step.'),
      maxStaleness: count('maxStaleness', 0),
      rowDigests: digestsOf(place, step, 'rowDigests'),
      sourceDigests: digestsOf(place, step, 'sourceDigests'),
      wholeTrajectories: step.wholeTrajectories === true ? true : undefined,
      window: readWindow(place, objectOf(place, step, 'window', 'step.')),
    }),
  };
}

function readLoss(place: Place, from: JsonObject | undefined): LossSettings | undefined {
  if (from === undefined) return undefined;
  const prefix = 'step.policyLoss.';
  const { name: _name, ...rest } = from;
  const params: Record<string, SettingValue> = {};
  for (const [key, value] of Object.entries(rest)) {
    if (value !== null && !['number', 'string', 'boolean'].includes(typeof value))
      throw invalidAt(place, `${prefix}${key}`, 'a number, a text, true, false or null', value);
    params[key] = value as SettingValue;
  }
  return { name: needed(place, textOf(place, from, 'name', prefix), `${prefix}name`), params };
}

function readCorrection(place: Place, from: JsonObject | undefined): CorrectionSettings | undefined {
  if (from === undefined) return undefined;
  const prefix = 'step.rolloutCorrection.';
  refuseSlips(place, prefix, from, CORRECTION_KEYS);
  const level = choiceOf(place, from, 'level', CORRECTION_LEVELS, prefix) ?? 'token';
  const statistic = choiceOf(place, from, 'statistic', CORRECTION_STATISTICS, prefix);
  return {
    level,
    statistic: statistic ?? (level === 'token' ? 'ratio' : 'sum'),
    action: choiceOf(place, from, 'action', CORRECTION_ACTIONS, prefix) ?? 'truncate',
    appliesTo: choiceOf(place, from, 'appliesTo', ['policy', 'all'] as const, prefix) ?? 'policy',
    keptWeight: choiceOf(place, from, 'keptWeight', ['statistic', 'token'] as const, prefix) ?? 'statistic',
    ...present({
      low: numberOf(place, from, 'low', prefix),
      high: numberOf(place, from, 'high', prefix),
      exponentClamp: numberOf(place, from, 'exponentClamp', prefix),
    }),
  };
}

function readOffPolicy(place: Place, from: JsonObject | undefined): OffPolicySettings | undefined {
  if (from === undefined) return undefined;
  const prefix = 'step.offPolicyMask.';
  refuseSlips(place, prefix, from, ['threshold', 'sampledBy']);
  return {
    threshold: needed(place, numberOf(place, from, 'threshold', prefix), `${prefix}threshold`),
    sampledBy: choiceOf(place, from, 'sampledBy', SAMPLED_BY, prefix) ?? 'old',
  };
}

function readKl(place: Place, from: JsonObject | undefined): KlSettings | undefined {
  if (from === undefined) return undefined;
  const prefix = 'step.kl.';
  refuseSlips(place, prefix, from, KL_KEYS);
  return {
    estimator: needed(place, textOf(place, from, 'estimator', prefix), `${prefix}estimator`),
    coefficient: needed(place, numberOf(place, from, 'coefficient', prefix), `${prefix}coefficient`),
    placement: choiceOf(place, from, 'placement', ['loss', 'reward'] as const, prefix) ?? 'loss',
    weight: choiceOf(place, from, 'weight', ['none', 'ratio', 'probability'] as const, prefix) ?? 'none',
    ...present({
      inputClamp: numberOf(place, from, 'inputClamp', prefix),
      outputClamp: numberOf(place, from, 'outputClamp', prefix),
      gradientOf: textOf(place, from, 'gradientOf', prefix),
      aggregation: readAggregation(
        place,
        objectOf(place, from, 'aggregation', prefix),
        `${prefix}aggregation.`,
      ),
    }),
  };
}

function readAggregation(
  place: Place,
  from: JsonObject | undefined,
  prefix: string,
): AggregationSettings | undefined {
  if (from === undefined) return undefined;
  refuseSlips(place, prefix, from, AGGREGATION_KEYS);
  const stated = from.rowCount;
  const isWord = stated === undefined || stated === null || typeof stated === 'string';
  return {
    mode: needed(place, textOf(place, from, 'mode', prefix), `${prefix}mode`),
    scope: choiceOf(place, from, 'scope', SCOPES, prefix) ?? 'global',
    counts: choiceOf(place, from, 'counts', COUNTED, prefix) ?? 'mask',
    rowCount: isWord
      ? (choiceOf(place, from, 'rowCount', ROW_COUNTS, prefix) ?? 'all')
      : needed(place, countOf(place, from, 'rowCount', { prefix, least: 1 }), `${prefix}rowCount`),
    ...present({
      scaleFactor: numberOf(place, from, 'scaleFactor', prefix),
      denominator: numberOf(place, from, 'denominator', prefix),
      microBatches: choiceOf(place, from, 'microBatches', JOINED, prefix),
    }),
  };
}

function readWindow(place: Place, from: JsonObject | undefined): StepSettings['window'] {
  if (from === undefined) return undefined;
  const prefix = 'step.window.';
  refuseSlips(place, prefix, from, WINDOW_KEYS);
  const count = (key: string, least: number) =>
    needed(place, countOf(place, from, key, { prefix, least }), `${prefix}${key}`);
  return { microBatches: count('microBatches', 1), tokens: count('tokens', 0) };
}

/** Characters of a digest at most. */
const MAX_DIGEST = 64;

function digestsOf(place: Place, step: JsonObject, field: string): string[] | undefined {
  const all = step[field];
  if (all === undefined || all === null) return undefined;
  const isDigest = (one: unknown): one is string => typeof one === 'string' && one.length <= MAX_DIGEST;
  if (Array.isArray(all) && all.length <= MAX_ROWS && all.every(isDigest)) return all;
  throw invalidAt(
    place,
    `step.${field}`,
    `texts of up to ${MAX_DIGEST} characters, at most ${MAX_ROWS}`,
    all,
  );
}

/** Omitted: one micro-batch of one rank. */
function readMicroBatches(place: Place, from: unknown): MicroBatch[] {
  const field = 'step.microBatches';
  if (from === undefined || from === null) return [{ rank: 0, index: 0, pass: 0 }];
  if (!Array.isArray(from) || from.length === 0)
    throw invalidAt(place, field, 'an array with at least one micro-batch', from);
  if (from.length > MAX_MICRO_BATCHES)
    throw faultAt(place, {
      code: 'too-large',
      field,
      expected: `at most ${MAX_MICRO_BATCHES} micro-batches`,
      found: `${from.length}`,
    });
  return from.map((one: unknown, at) => {
    const prefix = `${field}[${at}].`;
    if (!isObject(one)) throw invalidAt(place, `${field}[${at}]`, 'an object', one);
    refuseSlips(place, prefix, one, MICRO_BATCH_KEYS);
    const count = (key: string, least = 0) => countOf(place, one, key, { prefix, least });
    return {
      rank: count('rank') ?? 0,
      index: count('index') ?? at,
      pass: count('pass') ?? 0,
      ...present({
        gradientScale: numberOf(place, one, 'gradientScale', prefix),
        lossScale: numberOf(place, one, 'lossScale', prefix),
        reportedLoss: reportedOf(place, one, 'reportedLoss', prefix),
        reportedDenominator: reportedOf(place, one, 'reportedDenominator', prefix),
        reported: readOwnReported(place, objectOf(place, one, 'reported', prefix), `${prefix}reported.`),
        width: count('width', 1),
      }),
    };
  });
}

function readOwnReported(place: Place, from: JsonObject | undefined, prefix: string): MicroBatch['reported'] {
  if (from === undefined) return undefined;
  refuseSlips(place, prefix, from, REPORTED_KEYS);
  return present(Object.fromEntries(REPORTED_KEYS.map((key) => [key, reportedOf(place, from, key, prefix)])));
}

function readReported(place: Place, from: JsonObject): StepSettings['reported'] {
  refuseSlips(place, 'step.reported.', from, REPORTED_KEYS);
  const entries = REPORTED_KEYS.flatMap((key): [string, ReportedValue][] => {
    const value = from[key];
    if (value === undefined || value === null) return [];
    if (typeof value === 'number') return [[key, { value }]];
    const prefix = `step.reported.${key}.`;
    if (!isObject(value)) throw invalidAt(place, `step.reported.${key}`, 'a number or an object', value);
    refuseSlips(place, prefix, value, ['value', 'reduction', 'counts', 'digits']);
    const own: ReportedValue = {
      value: needed(place, reportedOf(place, value, 'value', prefix), `${prefix}value`),
      ...present({
        reduction: choiceOf(place, value, 'reduction', REDUCTIONS, prefix),
        counts: choiceOf(place, value, 'counts', MEAN_COUNTS, prefix),
        digits: countOf(place, value, 'digits', { prefix, least: 1 }),
      }),
    };
    return [[key, own]];
  });
  return Object.fromEntries(entries);
}

function readSampling(place: Place, from: JsonObject | undefined): SamplingSettings | undefined {
  if (from === undefined) return undefined;
  const prefix = 'step.sampling.';
  refuseSlips(place, prefix, from, SAMPLING_KEYS);
  return present({
    temperature: numberOf(place, from, 'temperature', prefix),
    topP: numberOf(place, from, 'topP', prefix),
    topK: numberOf(place, from, 'topK', prefix),
    minP: numberOf(place, from, 'minP', prefix),
    logProbs: choiceOf(place, from, 'logProbs', ['raw', 'processed'] as const, prefix),
  });
}

function numberOf(place: Place, from: JsonObject, field: string, prefix: string): number | undefined {
  const value = from[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw invalidAt(place, `${prefix}${field}`, 'a number', value);
  return value;
}

const NOT_FINITE: ReadonlyMap<unknown, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);

/** A number that a trainer computed, which may be none: NaN and infinities are texts. */
function reportedOf(place: Place, from: JsonObject, field: string, prefix: string): number | undefined {
  return NOT_FINITE.get(from[field]) ?? numberOf(place, from, field, prefix);
}

function countOf(
  place: Place,
  from: JsonObject,
  field: string,
  { prefix, least }: { prefix: string; least: number },
): number | undefined {
  const value = numberOf(place, from, field, prefix);
  if (value === undefined || (Number.isSafeInteger(value) && value >= least)) return value;
  throw invalidAt(place, `${prefix}${field}`, `an integer of at least ${least}`, value);
}

function choiceOf<T extends string>(
  place: Place,
  from: JsonObject,
  field: string,
  choices: readonly T[],
  prefix: string,
): T | undefined {
  const value = textOf(place, from, field, prefix);
  if (value === undefined) return undefined;
  const chosen = choices.find((choice) => choice === value);
  if (chosen === undefined)
    throw invalidAt(place, `${prefix}${field}`, `one of ${choices.join(', ')}`, value);
  return chosen;
}

function needed<T>(place: Place, value: T | undefined, field: string): T {
  if (value !== undefined) return value;
  throw new BatchFormatError({
    ...place,
    code: 'missing',
    field,
    expected: 'a value',
    found: describeValue(value),
  });
}
