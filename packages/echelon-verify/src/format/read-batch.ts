import { present } from '../base/present.ts';
import type { Batch, BatchEstimator } from './batch.ts';
import { MAX_ROWS } from './batch.ts';
import { BatchFormatError, describeValue } from './format-error.ts';
import { inflate, isGzip } from './inflate.ts';
import type { Place } from './json-columns.ts';
import {
  columnOf,
  faultAt,
  flagColumn,
  float32Column,
  integerColumn,
  invalidAt,
  nameColumn,
  numberColumn,
} from './json-columns.ts';
import { objectOf, refuseSlips, textOf } from './json-fields.ts';
import { readObservations } from './json-observations.ts';
import type { JsonObject } from './json-params.ts';
import { isObject, readEstimator, readProvenance, usesReturns } from './json-params.ts';
import { parseJson } from './parse-json.ts';
import { constantAdvantage, readTokens, TOKEN_KEYS } from './tokens.ts';

/** Version 2 has tokens as well. */
const FORMATS = ['echelon-batch/1', 'echelon-batch/2'];

/** The keys that a batch may have. */
const BATCH_KEYS = [
  'name',
  'note',
  'params',
  'provenance',
  'group',
  'trajectory',
  'step',
  'observation',
  'observationIndex',
  'observations',
  'nextObservation',
  'nextObservationIndex',
  'actionIndex',
  'actions',
  'reward',
  'actionValid',
  'tokenLevelRewardSum',
  'rewards',
  'rewardWeights',
  'rewardBaseline',
  'responseLength',
  'reported',
  'tokens',
];
const REPORTED_KEYS = ['stepReward', 'advantage'];
const LARGEST_INT32 = 2 ** 31 - 1;

/**
 * Reads a file of the format `echelon-batch/1` or `echelon-batch/2`, JSON or JSON in gzip. `source` names it in messages. Throws a
 * BatchFormatError for anything that is not such a file, in time and memory bounded by the limits in
 * parse-json.ts. Keys that the format does not have are ignored, unless they look like a slip of one it has.
 */
export function readBatches(bytes: Uint8Array, source: string): Batch[] {
  return batchesIn(parseJson(isGzip(bytes) ? inflate(bytes, source) : bytes, source), source);
}

/** {@link readBatches}, from the parsed JSON. */
export function batchesIn(parsed: unknown, source: string): Batch[] {
  if (!isObject(parsed)) throw wrongFile(source, 'an object {format, batches}', parsed);
  const { format } = parsed;
  if (typeof format !== 'string' || !FORMATS.includes(format))
    throw wrongFile(source, FORMATS.map((one) => JSON.stringify(one)).join(' or '), format, 'format');
  if (!Array.isArray(parsed.batches))
    throw wrongFile(source, 'an array of batches', parsed.batches, 'batches');
  return parsed.batches.map((batch: unknown, at) => {
    const place = { file: source, batch: `#${at}` };
    if (format === FORMATS[0] && isObject(batch) && batch.tokens !== undefined)
      throw faultAt(place, { code: 'bad-key', field: 'tokens', expected: `no tokens in ${format}` });
    return readBatch(batch, place);
  });
}

function readBatch(batch: unknown, unnamed: Place): Batch {
  if (!isObject(batch)) throw invalidAt(unnamed, 'batches', 'an object for each batch', batch);
  const name = textOf(unnamed, batch, 'name') || unnamed.batch;
  const place = { file: unnamed.file, batch: name };
  refuseSlips(place, '', batch, BATCH_KEYS);
  const params = objectOf(place, batch, 'params');
  if (params === undefined) {
    throw faultAt(place, { code: 'missing', field: 'params', expected: 'an object', found: 'nothing' });
  }
  const reported = objectOf(place, batch, 'reported') ?? {};
  refuseSlips(place, 'reported.', reported, REPORTED_KEYS);
  const estimator = readEstimator(place, params, { returns: needsReturns(params, batch) });
  const group = namesOf(place, batch, 'group');
  const rows = group.ids.length;
  const trajectory = namesOf(place, batch, 'trajectory', rows);
  return {
    name,
    ...present({ note: textOf(place, batch, 'note'), provenance: readProvenance(place, batch) }),
    rows,
    estimator,
    group: group.ids,
    groupNames: group.names,
    trajectory: trajectory.ids,
    trajectoryNames: trajectory.names,
    ...readObservations(place, batch, rows),
    ...readActions(place, batch, rows),
    ...readColumns(place, { batch, reported: usedOf(reported, params), rows, estimator }),
  };
}

/** `actionIndex`, one entry per row, into the texts `actions`. */
function readActions(place: Place, batch: JsonObject, rows: number): Pick<Batch, 'action' | 'actionTexts'> {
  if (batch.actionIndex === undefined || batch.actionIndex === null) return {};
  const { actions } = batch;
  if (!Array.isArray(actions) || !actions.every((one) => typeof one === 'string'))
    throw invalidAt(place, 'actions', 'the array of texts that actionIndex points into', actions);
  const range = { rows, largest: actions.length - 1 };
  const action = integerColumn(place, 'actionIndex', batch.actionIndex, range);
  return present({ action, actionTexts: actions });
}

function readColumns(
  place: Place,
  from: { batch: JsonObject; reported: JsonObject; rows: number; estimator: BatchEstimator },
): Partial<Batch> {
  const { batch, reported, rows } = from;
  const counts = { rows, largest: LARGEST_INT32 };
  const reportedColumn = from.estimator.precision === 'float64' ? numberColumn : float32Column;
  const tokens = objectOf(place, batch, 'tokens');
  if (tokens !== undefined) refuseSlips(place, 'tokens.', tokens, TOKEN_KEYS);
  const { precision } = from.estimator;
  const ofTokens = tokens && readTokens(place, tokens, { rows, precision });
  return present({
    tokens: ofTokens,
    step: integerColumn(place, 'step', batch.step, counts),
    reward: numberColumn(place, 'reward', batch.reward, rows),
    actionValid: flagColumn(place, 'actionValid', batch.actionValid, rows),
    tokenLevelRewardSum: numberColumn(place, 'tokenLevelRewardSum', batch.tokenLevelRewardSum, rows),
    rewards: rewardColumns(place, batch, rows),
    rewardBaseline: numberColumn(place, 'rewardBaseline', batch.rewardBaseline, rows),
    responseLength: integerColumn(place, 'responseLength', batch.responseLength, counts),
    reportedStepReward: reportedColumn(place, 'reported.stepReward', reported.stepReward, rows),
    reportedAdvantage:
      reportedColumn(place, 'reported.advantage', reported.advantage, rows) ??
      (ofTokens && constantAdvantage(ofTokens)),
  });
}

/** `rewards: {name: column}` and `rewardWeights: {name: weight}`; a weight that is omitted is 1. */
function rewardColumns(place: Place, batch: JsonObject, rows: number): Batch['rewards'] {
  const columns = objectOf(place, batch, 'rewards');
  const weights = objectOf(place, batch, 'rewardWeights') ?? {};
  return (
    columns &&
    Object.entries(columns).map(([name, values]) => {
      const weight = (Object.hasOwn(weights, name) ? weights[name] : undefined) ?? 1;
      if (typeof weight !== 'number') throw invalidAt(place, `rewardWeights.${name}`, 'a number', weight);
      const value = numberColumn(place, `rewards.${name}`, values, rows);
      if (value === undefined) throw invalidAt(place, `rewards.${name}`, 'one number for each row', values);
      return { name, weight, value };
    })
  );
}

/** True if gamma and the penalty must be stated: the estimator uses returns, and there are rewards to make them of. */
function needsReturns(params: JsonObject, batch: JsonObject): boolean {
  return Array.isArray(batch.reward) && usesReturns(params.estimator ?? 'hgpo');
}

/** Returns that the estimator does not use can be checked only if gamma is stated: else they count as absent. */
function usedOf(reported: JsonObject, { estimator, gamma }: JsonObject): JsonObject {
  if (usesReturns(estimator ?? 'hgpo') || typeof gamma === 'number') return reported;
  const { stepReward: _unused, ...used } = reported;
  return used;
}

function namesOf(
  place: Place,
  batch: JsonObject,
  field: string,
  rows?: number,
): { ids: Int32Array; names: string[] } {
  const value = batch[field];
  if (!Array.isArray(value)) throw invalidAt(place, field, 'an array with one name per row', value);
  if (value.length > MAX_ROWS) {
    throw faultAt(place, {
      code: 'too-large',
      field,
      expected: `at most ${MAX_ROWS} rows`,
      found: `${value.length}`,
    });
  }
  return nameColumn(place, field, columnOf(place, field, value, rows ?? value.length)!);
}

function wrongFile(file: string, expected: string, found: unknown, field?: string): BatchFormatError {
  return new BatchFormatError({ code: 'invalid', file, field, expected, found: describeValue(found) });
}
