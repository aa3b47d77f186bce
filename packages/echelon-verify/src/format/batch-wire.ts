import { createHash } from 'node:crypto';
import { present } from '../base/present.ts';
import { echelon } from '../gen/batch.js';
import type { AnyParameters, ParameterValue } from '../kernel/estimators/parameters.ts';
import { estimatorOf, isEstimatorName } from '../kernel/estimators/registry.ts';
import { GOAL } from '../kernel/graph.ts';
import { TOKEN_COLUMNS, type TokenColumnName } from '../kernel/stages/token-sequences.ts';
import type { Batch, BatchEstimator } from './batch.ts';
import { MAX_TOKENS } from './batch.ts';
import { BatchFormatError } from './format-error.ts';
import type { Place } from './json-columns.ts';
import { faultAt } from './json-columns.ts';
import type { JsonObject } from './json-params.ts';
import { readEstimator, readProvenance, usesReturns } from './json-params.ts';
import { labelOf } from './observation.ts';
import { checkOffset, constantAdvantage, ofTokenColumns } from './tokens.ts';
import { checkRows, toWire, wireFlags, wireFloat32, wireFloat64, wireInt32 } from './wire-columns.ts';
import { decodeWithin } from './wire-limits.ts';

const { AdvantageBatch } = echelon.batch.v1;
type Message = echelon.batch.v1.AdvantageBatch;

/** Version 2 has tokens as well. */
const FORMATS = ['echelon-batch/1', 'echelon-batch/2'] as const;
const DIGEST_BYTES = 16;

/**
 * Reads a batch of the wire (protobuf `echelon.batch.v1.AdvantageBatch`). `source` names it in messages. The
 * batch's columns are copies: `bytes` may be reused. Throws a BatchFormatError for anything that is not such a
 * batch; memory is bounded by a small multiple of the input.
 */
export function decodeBatch(bytes: Uint8Array, source = 'batch'): Batch {
  const told = { file: source, name: 'AdvantageBatch' };
  const message: Message = decodeWithin(bytes, (from) => AdvantageBatch.decode(from), told);
  if (!FORMATS.some((format) => format === message.format)) {
    const found = message.format === '' ? 'nothing' : JSON.stringify(message.format.slice(0, 40));
    const expected = FORMATS.join(' or ');
    throw new BatchFormatError({ code: 'invalid', file: source, field: 'format', expected, found });
  }
  const place: Place = { file: source, batch: message.name };
  const { rows } = message;
  checkRows(place, rows);
  const group = wireInt32(place, { field: 'group', bytes: message.group, rows }, message.groupNames.length);
  const trajectoryColumn = { field: 'trajectory', bytes: message.trajectory, rows };
  const trajectory = wireInt32(place, trajectoryColumn, message.trajectoryNames.length);
  if (group === undefined) throw missing(place, 'group', 'the group of each row');
  if (trajectory === undefined) throw missing(place, 'trajectory', 'the trajectory of each row');
  const provenance = readProvenance(place, { provenance: decodeProvenance(message) });
  return {
    name: message.name,
    rows,
    estimator: decodeEstimator(place, message),
    ...present({ provenance }),
    group,
    groupNames: message.groupNames,
    trajectory,
    trajectoryNames: message.trajectoryNames,
    ...decodeObservations(place, message),
    ...decodeColumns(place, message),
  };
}

/**
 * Writes a batch as the wire carries it. Lossless but for `note`, for the texts with `texts: false`, and for
 * columns of tokens and reported columns that are not float32. An observation's digest is the first half of the SHA-256 of its
 * canonical text (observation.ts), in UTF-8.
 */
export function encodeBatch(batch: Batch, options: { texts?: boolean } = {}): Uint8Array {
  const { dictionary } = batch;
  const float32 = (column: Float64Array | undefined) => toWire(column && Float32Array.from(column));
  const message = new AdvantageBatch({
    format: FORMATS[batch.tokens === undefined ? 0 : 1],
    name: batch.name,
    provenance: new echelon.batch.v1.Provenance(batch.provenance ?? {}),
    estimator: encodeEstimator(batch.estimator),
    rows: batch.rows,
    group: toWire(batch.group),
    groupNames: [...batch.groupNames],
    trajectory: toWire(batch.trajectory),
    trajectoryNames: [...batch.trajectoryNames],
    step: toWire(batch.step),
    observation: toWire(batch.observation),
    nextObservation: toWire(batch.nextObservation?.map((id) => (id === GOAL ? 0 : id + 1))),
    observationDigests: dictionary?.digests ?? digestsOf(dictionary?.texts ?? []),
    observationTexts: options.texts === false ? [] : [...(dictionary?.texts ?? [])],
    ...(options.texts === false
      ? {}
      : { action: toWire(batch.action), actionTexts: [...(batch.actionTexts ?? [])] }),
    reward: toWire(batch.reward),
    actionValid: toWire(batch.actionValid),
    tokenLevelRewardSum: toWire(batch.tokenLevelRewardSum),
    rewards: (batch.rewards ?? []).map(({ name, weight, value }) => ({ name, weight, value: toWire(value) })),
    rewardBaseline: toWire(batch.rewardBaseline),
    responseLength: toWire(batch.responseLength),
    reportedStepReward: float32(batch.reportedStepReward),
    reportedAdvantage: float32(batch.reportedAdvantage),
    ...encodeTokens(batch.tokens, float32),
  });
  return AdvantageBatch.encode(message).finish();
}

/** The fields of the message for columns of tokens. */
const WIRE_TOKENS = {
  reward: 'tokenReward',
  value: 'tokenValue',
  logProb: 'tokenLogProb',
  squaredProbabilities: 'tokenSquaredProbabilities',
  rolloutWeight: 'tokenRolloutWeight',
} as const satisfies Record<TokenColumnName, keyof Message>;

function encodeTokens(
  tokens: Batch['tokens'],
  float32: (column: Float64Array | undefined) => Uint8Array,
): Partial<Message> {
  if (tokens === undefined) return {};
  return {
    tokenOffset: toWire(tokens.offset),
    tokenMask: toWire(tokens.mask),
    ...Object.fromEntries(TOKEN_COLUMNS.map((name) => [WIRE_TOKENS[name], float32(tokens[name])])),
    reportedTokenAdvantage: float32(tokens.reportedAdvantage),
  };
}

/** Undefined if the message has no tokens. */
function decodeTokens(place: Place, message: Message): Batch['tokens'] {
  if (message.tokenOffset.length === 0) return undefined;
  const { rows: ofBatch } = message;
  const offset = wireInt32(
    place,
    { field: 'token_offset', bytes: message.tokenOffset, rows: ofBatch + 1 },
    MAX_TOKENS + 1,
  )!;
  checkOffset(place, 'token_offset', offset);
  const rows = offset[ofBatch]!;
  const reported = { field: 'reported_token_advantage', bytes: message.reportedTokenAdvantage, rows };
  return {
    offset,
    ...present({
      mask: wireFlags(place, { field: 'token_mask', bytes: message.tokenMask, rows }),
      ...ofTokenColumns((name) =>
        wireFloat32(place, { field: `tokens.${name}`, bytes: message[WIRE_TOKENS[name]], rows }),
      ),
      reportedAdvantage: wireFloat32(place, reported),
    }),
  };
}

/** Only what is set; 64-bit counters come as objects whose text is the number. */
function decodeProvenance(message: Message): Record<string, unknown> {
  const { trainingStep, rowsCollected, ...stated } = { ...message.provenance };
  return {
    ...stated,
    ...(trainingStep === undefined ? {} : { trainingStep: Number(String(trainingStep)) }),
    ...(rowsCollected === undefined ? {} : { rowsCollected: Number(String(rowsCollected)) }),
  };
}

/** The same rules as for the file's `params`; an empty text counts as not stated. */
function decodeEstimator(place: Place, { estimator }: Message): BatchEstimator {
  if (!estimator?.name) throw missing(place, 'estimator.name', 'the name of the estimator');
  const { name, gamma, invalidActionPenalty, precision, forms, parameters } = estimator;
  const hasParameters = isEstimatorName(name) && Object.keys(estimatorOf(name).parameters).length > 0;
  if (hasParameters && !parameters?.length)
    throw missing(place, 'estimator.parameters', `the parameters of ${name}`);
  const params = {
    ...decodeParameters(parameters ?? []),
    estimator: name,
    gamma: gamma ?? 0,
    invalidActionPenalty: invalidActionPenalty ?? 0,
    ...present({ precision: precision || undefined, forms: forms || undefined }),
  };
  return readEstimator({ ...place, params: 'estimator' }, params, { returns: true });
}

function decodeParameters(parameters: readonly echelon.batch.v1.Parameter.$Properties[]): JsonObject {
  return Object.fromEntries(
    parameters.map(({ name, number, flag, text }) => [name ?? '', number ?? flag ?? text]),
  );
}

function encodeEstimator(estimator: BatchEstimator): echelon.batch.v1.Estimator {
  const { name, params, others, ...ofBatch } = estimator;
  const stated: AnyParameters = { ...others, ...params };
  const parameters = Object.entries(stated).map(([key, value]) => encodeParameter(key, value));
  return new echelon.batch.v1.Estimator({ name, ...ofBatch, parameters });
}

function encodeParameter(name: string, value: ParameterValue): echelon.batch.v1.Parameter.$Properties {
  if (typeof value === 'number') return { name, number: value };
  return typeof value === 'boolean' ? { name, flag: value } : { name, text: value };
}

function decodeColumns(place: Place, message: Message): Partial<Batch> {
  const { rows, estimator } = message;
  // A gamma of 0 is not on the wire: returns that the estimator does not use are then not checked.
  const checked = usesReturns(estimator?.name) || (estimator?.gamma ?? 0) !== 0;
  const column = (field: string, bytes: Uint8Array) => ({ field, bytes, rows });
  const tokens = decodeTokens(place, message);
  const action = wireInt32(place, column('action', message.action), message.actionTexts.length);
  return present({
    action,
    actionTexts: action && message.actionTexts,
    step: wireInt32(place, column('step', message.step), 2 ** 31),
    reward: wireFloat64(place, column('reward', message.reward)),
    actionValid: wireFlags(place, column('action_valid', message.actionValid)),
    tokenLevelRewardSum: wireFloat64(place, column('token_level_reward_sum', message.tokenLevelRewardSum)),
    rewards: decodeRewards(place, message),
    rewardBaseline: wireFloat64(place, column('reward_baseline', message.rewardBaseline)),
    responseLength: wireInt32(place, column('response_length', message.responseLength), 2 ** 31),
    reportedStepReward: checked
      ? wireFloat32(place, column('reported_step_reward', message.reportedStepReward))
      : undefined,
    tokens,
    reportedAdvantage:
      wireFloat32(place, column('reported_advantage', message.reportedAdvantage)) ??
      (tokens && constantAdvantage(tokens)),
  });
}

/** The columns of the reward functions; undefined if there are none. */
function decodeRewards(place: Place, { rewards, rows }: Message): Batch['rewards'] {
  const names = new Set<string>();
  const columns = rewards.map(({ name: stated, weight, value }) => {
    const name = stated ?? '';
    const field = `rewards.${name}`;
    if (names.has(name)) {
      const expected = 'each reward function once';
      throw faultAt(place, { code: 'invalid', field, expected, found: 'a repetition' });
    }
    names.add(name);
    const column = wireFloat64(place, { field, bytes: value ?? new Uint8Array(0), rows });
    if (column === undefined) throw missing(place, field, 'one number for each row');
    return { name, weight: weight ?? 1, value: column };
  });
  return columns.length === 0 ? undefined : columns;
}

function decodeObservations(
  place: Place,
  message: Message,
): Pick<Batch, 'observation' | 'nextObservation' | 'dictionary' | 'observationLabel'> {
  const { observationDigests: digestBytes, observationTexts: texts, rows } = message;
  const count = digestBytes.length / DIGEST_BYTES;
  if (!Number.isInteger(count)) {
    const expected = `${DIGEST_BYTES} bytes for each entry`;
    throw faultAt(place, {
      code: 'wrong-length',
      field: 'observation_digests',
      expected,
      found: `${digestBytes.length}`,
    });
  }
  if (texts.length > 0 && texts.length !== count) {
    const expected = `${count} texts, one for each digest, or none`;
    throw faultAt(place, {
      code: 'wrong-length',
      field: 'observation_texts',
      expected,
      found: `${texts.length}`,
    });
  }
  const observation = wireInt32(place, { field: 'observation', bytes: message.observation, rows }, count);
  if (observation === undefined) return { observationLabel: String };
  const nextColumn = { field: 'next_observation', bytes: message.nextObservation, rows };
  const nextObservation = wireInt32(place, nextColumn, count + 1)?.map((id) => (id === 0 ? GOAL : id - 1));
  const digests = Buffer.from(digestBytes);
  checkDistinct(place, digests, count);
  const dictionary = { count, digests, ...(texts.length > 0 ? { texts } : {}) };
  const hex = (id: number) => digests.toString('hex', id * DIGEST_BYTES, (id + 1) * DIGEST_BYTES);
  return {
    observation,
    ...present({ nextObservation }),
    dictionary,
    observationLabel: (id) => (texts[id] === undefined ? hex(id) : labelOf(texts[id])),
  };
}

function checkDistinct(place: Place, digests: Buffer, count: number): void {
  const seen = new Set<string>();
  for (let id = 0; id < count; id++) {
    const digest = digests.toString('latin1', id * DIGEST_BYTES, (id + 1) * DIGEST_BYTES);
    if (seen.has(digest)) {
      const expected = 'each observation once: two entries with one digest would be two states';
      throw faultAt(place, {
        code: 'invalid',
        field: `observation_digests[${id}]`,
        expected,
        found: 'a repetition',
      });
    }
    seen.add(digest);
  }
}

function digestsOf(texts: readonly string[]): Uint8Array {
  const digests = new Uint8Array(texts.length * DIGEST_BYTES);
  texts.forEach((text, id) => {
    digests.set(
      createHash('sha256').update(text, 'utf8').digest().subarray(0, DIGEST_BYTES),
      id * DIGEST_BYTES,
    );
  });
  return digests;
}

function missing(place: Place, field: string, expected: string): BatchFormatError {
  return faultAt(place, { code: 'missing', field, expected, found: 'nothing' });
}
