import { present } from '../base/present.ts';
import { MAX_ROWS, MAX_TOKENS } from './batch.ts';
import { BatchFormatError, describeValue } from './format-error.ts';
import {
  columnOf,
  faultAt,
  flagColumn,
  integerColumn,
  invalidAt,
  nameColumn,
  numberColumn,
  type Place,
} from './json-columns.ts';
import { objectOf, refuseSlips, textOf } from './json-fields.ts';
import { isObject, type JsonObject } from './json-params.ts';
import { readSettings } from './read-step-settings.ts';
import type { Names, StepBatch, StepTokens } from './step-batch.ts';
import { COLUMN_KEYS, type ColumnKey, TOKEN_COLUMNS } from './step-columns.ts';
import { checkOffset } from './tokens.ts';

/** The format of a step. */
export const STEP_FORMAT = 'echelon-batch/3';

const BATCH_KEYS = [
  'name',
  'note',
  'step',
  'group',
  'trajectory',
  'microBatch',
  'policyVersionStart',
  'policyVersionEnd',
  'reported',
  'idTexts',
  'tokens',
];
const LARGEST_INT32 = 2 ** 31 - 1;

/** True for the parsed JSON of a file of the format `echelon-batch/3`. */
export function isStepFile(parsed: unknown): boolean {
  return isObject(parsed) && parsed.format === STEP_FORMAT;
}

/** The steps of the parsed JSON of such a file. Throws a BatchFormatError for anything that is not as the format says. */
export function readSteps(parsed: unknown, source: string): StepBatch[] {
  const batches = isObject(parsed) ? parsed.batches : undefined;
  if (!Array.isArray(batches)) {
    const found = describeValue(batches);
    const expected = 'an array of batches';
    throw new BatchFormatError({ code: 'invalid', file: source, field: 'batches', expected, found });
  }
  return batches.map((batch: unknown, at) => readStep(batch, { file: source, batch: `#${at}` }));
}

function readStep(batch: unknown, unnamed: Place): StepBatch {
  if (!isObject(batch)) throw invalidAt(unnamed, 'batches', 'an object for each batch', batch);
  const name = textOf(unnamed, batch, 'name') || unnamed.batch;
  const place = { file: unnamed.file, batch: name };
  refuseSlips(place, '', batch, BATCH_KEYS);
  const step = readSettings(place, objectOf(place, batch, 'step') ?? {});
  const from = objectOf(place, batch, 'tokens');
  if (from === undefined)
    throw faultAt(place, { code: 'missing', field: 'tokens', expected: 'an object', found: 'nothing' });
  const rows = Array.isArray(from.offset) ? from.offset.length - 1 : -1;
  if (rows < 0 || rows > MAX_ROWS)
    throw invalidAt(place, 'tokens.offset', `1 to ${MAX_ROWS + 1} integers`, from.offset);
  const tokens = readTokens(place, from, rows);
  const reported = objectOf(place, batch, 'reported') ?? {};
  refuseSlips(place, 'reported.', reported, ['advantage', 'denominator']);
  const counts = { rows, largest: LARGEST_INT32 };
  const microBatch = { rows, largest: step.microBatches.length - 1 };
  return {
    name,
    step,
    rows,
    tokens,
    ...present({
      note: textOf(place, batch, 'note'),
      group: namesOf(place, batch, 'group', rows),
      trajectory: namesOf(place, batch, 'trajectory', rows),
      microBatch: integerColumn(place, 'microBatch', batch.microBatch, microBatch),
      policyVersionStart: integerColumn(place, 'policyVersionStart', batch.policyVersionStart, counts),
      policyVersionEnd: integerColumn(place, 'policyVersionEnd', batch.policyVersionEnd, counts),
      reportedAdvantage: floatColumn(place, 'reported.advantage', reported.advantage, rows),
      reportedDenominator: floatColumn(place, 'reported.denominator', reported.denominator, rows),
      idTexts: textsOf(place, objectOf(place, batch, 'idTexts')),
    }),
  };
}

function readTokens(place: Place, from: JsonObject, rows: number): StepTokens {
  refuseSlips(place, 'tokens.', from, ['offset', ...COLUMN_KEYS]);
  const range = { rows: rows + 1, largest: MAX_TOKENS };
  const offset = integerColumn(place, 'tokens.offset', from.offset, range)!;
  checkOffset(place, 'tokens.offset', offset);
  const count = offset[rows]!;
  const columns = COLUMN_KEYS.map((key) => [key, tokenColumn(place, key, from[key], count)]);
  return { offset, ...present(Object.fromEntries(columns) as StepTokens) } as StepTokens;
}

function tokenColumn(
  place: Place,
  key: ColumnKey,
  value: unknown,
  rows: number,
): Int32Array | Float32Array | Uint8Array | undefined {
  const field = `tokens.${key}`;
  const { type } = TOKEN_COLUMNS[key];
  if (type === 'float32') return floatColumn(place, field, value, rows);
  if (type === 'flag') return flagColumn(place, field, value, rows);
  if (type === 'side') {
    const sides = integerColumn(place, field, value, { rows, largest: 2 });
    return sides && Uint8Array.from(sides);
  }
  return integerColumn(place, field, value, { rows, largest: LARGEST_INT32 });
}

function floatColumn(place: Place, field: string, value: unknown, rows: number): Float32Array | undefined {
  const column = numberColumn(place, field, value, rows);
  return column && Float32Array.from(column);
}

function namesOf(place: Place, batch: JsonObject, field: string, rows: number): Names | undefined {
  const column = columnOf(place, field, batch[field], rows);
  return column && nameColumn(place, field, column);
}

function textsOf(place: Place, from: JsonObject | undefined): ReadonlyMap<number, string> | undefined {
  if (from === undefined) return undefined;
  return new Map(
    Object.keys(from).map((id) => {
      if (!/^\d{1,10}$/.test(id)) throw invalidAt(place, 'idTexts', 'token ids as keys', id);
      return [Number(id), textOf(place, from, id) ?? ''];
    }),
  );
}
