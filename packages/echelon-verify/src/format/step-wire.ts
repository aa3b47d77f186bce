import { present } from '../base/present.ts';
import { echelon } from '../gen/batch.js';
import { MAX_TOKENS } from './batch.ts';
import { faultAt, type Place } from './json-columns.ts';
import { isObject } from './json-params.ts';
import { bytesOf, flagsOf, floatsOf, packed, runsOf, unrolled } from './packed.ts';
import { parseJson } from './parse-json.ts';
import { STEP_FORMAT } from './read-step.ts';
import { readSettings } from './read-step-settings.ts';
import type { Names, StepBatch, StepTokens } from './step-batch.ts';
import { COLUMN_KEYS, type ColumnKey, TOKEN_COLUMNS } from './step-columns.ts';
import { checkOffset } from './tokens.ts';
import { checkRows, toWire, wireInt32 } from './wire-columns.ts';
import { decodeWithin, STEP_LIMITS } from './wire-limits.ts';

const { StepBatch: Message } = echelon.batch.v1;
type Message = echelon.batch.v1.StepBatch;

/**
 * Reads a step of the wire (protobuf `echelon.batch.v1.StepBatch`). `source` names it in messages. Float columns may be views
 * of `bytes`, which must not change while the step is in use. Throws a BatchFormatError for anything that is not such a step.
 */
export function decodeStep(bytes: Uint8Array, source = 'batch'): StepBatch {
  const told = { file: source, name: 'StepBatch', limits: STEP_LIMITS };
  const message: Message = decodeWithin(bytes, (from) => Message.decode(from), told);
  const place: Place = { file: source, batch: message.name };
  if (message.format !== STEP_FORMAT) {
    const found = JSON.stringify(message.format.slice(0, 40));
    throw faultAt(place, { code: 'invalid', field: 'format', expected: STEP_FORMAT, found });
  }
  const { rows } = message;
  checkRows(place, rows);
  const stated: unknown = parseJson(new TextEncoder().encode(message.step || '{}'), source);
  const step = readSettings(place, isObject(stated) ? stated : {});
  const column = (field: string, own: Uint8Array) => ({ field, bytes: own, rows });
  const versions = 2 ** 31;
  return {
    name: message.name,
    step,
    rows,
    tokens: decodeTokens(place, message),
    ...present({
      group: namesOf(place, column('group', message.group), message.groupNames),
      trajectory: namesOf(place, column('trajectory', message.trajectory), message.trajectoryNames),
      microBatch: wireInt32(place, column('micro_batch', message.microBatch), step.microBatches.length),
      policyVersionStart: wireInt32(
        place,
        column('policy_version_start', message.policyVersionStart),
        versions,
      ),
      policyVersionEnd: wireInt32(place, column('policy_version_end', message.policyVersionEnd), versions),
      reportedAdvantage: floatsOf(place, 'reported_advantage', message.reportedAdvantage, rows),
      reportedDenominator: floatsOf(place, 'reported_denominator', message.reportedDenominator, rows),
      idTexts: textsOf(place, message),
    }),
  };
}

/** Writes a step as the wire carries it. Lossless but for `note`. */
export function encodeStep(step: StepBatch): Uint8Array {
  const { tokens } = step;
  const runs = runsOf(tokens.policyVersion);
  const columns = COLUMN_KEYS.filter((key) => key !== 'policyVersion').map((key) => {
    const values = tokens[key];
    const flag = TOKEN_COLUMNS[key].type === 'flag' && values instanceof Uint8Array;
    return [fieldOf(key), flag ? packed(values) : toWire(values)];
  });
  const { policyLoss, ...settings } = step.step;
  // A loss and its parameters are one object in a file.
  const loss = policyLoss && { policyLoss: { name: policyLoss.name, ...policyLoss.params } };
  const message = new Message({
    format: STEP_FORMAT,
    name: step.name,
    step: JSON.stringify({ ...settings, ...loss }, (_key, value: unknown) =>
      typeof value === 'number' && !Number.isFinite(value) ? String(value) : value,
    ),
    rows: step.rows,
    group: toWire(step.group?.ids),
    groupNames: [...(step.group?.names ?? [])],
    trajectory: toWire(step.trajectory?.ids),
    trajectoryNames: [...(step.trajectory?.names ?? [])],
    microBatch: toWire(step.microBatch),
    policyVersionStart: toWire(step.policyVersionStart),
    policyVersionEnd: toWire(step.policyVersionEnd),
    reportedAdvantage: toWire(step.reportedAdvantage),
    reportedDenominator: toWire(step.reportedDenominator),
    textId: toWire(step.idTexts && Int32Array.from(step.idTexts.keys())),
    idTexts: [...(step.idTexts?.values() ?? [])],
    tokenOffset: toWire(tokens.offset),
    tokenPolicyVersion: toWire(runs?.values),
    tokenPolicyVersionRuns: toWire(runs?.lengths),
    ...Object.fromEntries(columns),
  });
  return Message.encode(message).finish();
}

function textsOf(place: Place, { idTexts, textId }: Message): ReadonlyMap<number, string> | undefined {
  if (idTexts.length === 0) return undefined;
  const ids = wireInt32(place, { field: 'text_id', bytes: textId, rows: idTexts.length }, 2 ** 31);
  return ids && new Map(idTexts.map((text, at) => [ids[at]!, text]));
}

/** The format that the first field of a message names; undefined if it cannot be read. */
export function formatOfWire(bytes: Uint8Array): string | undefined {
  const length = bytes[1] ?? 0;
  if (bytes[0] !== 0x0a || length > 0x7f) return undefined;
  return new TextDecoder().decode(bytes.subarray(2, 2 + length));
}

type TokenField = `token${Capitalize<ColumnKey>}`;

const fieldOf = (key: ColumnKey): TokenField => `token${key[0]!.toUpperCase()}${key.slice(1)}` as TokenField;

function decodeTokens(place: Place, message: Message): StepTokens {
  const { rows } = message;
  const offsets = { field: 'token_offset', bytes: message.tokenOffset, rows: rows + 1 };
  const offset = wireInt32(place, offsets, MAX_TOKENS + 1);
  if (offset === undefined)
    throw faultAt(place, { code: 'missing', field: 'token_offset', expected: `${rows + 1} integers` });
  checkOffset(place, 'token_offset', offset);
  const count = offset[rows]!;
  const columns = COLUMN_KEYS.map((key) => [key, decodeColumn(place, message, { key, count })]);
  return { offset, ...present(Object.fromEntries(columns) as StepTokens) } as StepTokens;
}

function decodeColumn(
  place: Place,
  message: Message,
  { key, count }: { key: ColumnKey; count: number },
): Float32Array | Int32Array | Uint8Array | undefined {
  const field = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const name = `token_${field}`;
  const bytes = message[fieldOf(key)];
  const { type } = TOKEN_COLUMNS[key];
  if (type === 'float32') return floatsOf(place, name, bytes, count);
  if (type === 'flag') return flagsOf(place, name, bytes, count);
  if (type === 'side') return bytesOf(place, name, { bytes, count, end: 3 });
  if (type === 'int32') return wireInt32(place, { field: name, bytes, rows: count }, 2 ** 31);
  return unrolled(place, name, { values: bytes, lengths: message.tokenPolicyVersionRuns, count });
}

function namesOf(
  place: Place,
  column: { field: string; bytes: Uint8Array; rows: number },
  names: readonly string[],
): Names | undefined {
  const ids = wireInt32(place, column, names.length);
  return ids && { ids, names };
}
