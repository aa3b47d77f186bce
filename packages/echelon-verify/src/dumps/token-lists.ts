/** Lists of numbers at the tokens of a row: absent, of another type, and not-a-number are three different things. */

import { BatchFormatError } from '../format/format-error.ts';
import type { CellPlace } from './cells.ts';

/** What a list holds. `number`: null is a number that is not finite, which JSON cannot write. `integer` and `flag` have no null. */
export type ListKind = 'number' | 'integer' | 'flag';

/** The numbers of a list; undefined if it is absent or null. Throws a BatchFormatError for anything else, with the place in the list. */
export function numberList(value: unknown, kind: ListKind, place: CellPlace): number[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw invalid(place, 'a list of numbers', value);
  return value.map((one: unknown, at) => numberAt(one, kind, { ...place, field: `${place.field}[${at}]` }));
}

function numberAt(value: unknown, kind: ListKind, place: CellPlace): number {
  if (value === null && kind === 'number') return Number.NaN;
  const number = typeof value === 'boolean' || typeof value === 'bigint' ? Number(value) : value;
  if (typeof number !== 'number') throw invalid(place, KINDS[kind], value);
  if (kind !== 'number' && !Number.isInteger(number)) throw invalid(place, KINDS[kind], value);
  if (kind === 'flag' && number !== 0 && number !== 1) throw invalid(place, KINDS[kind], value);
  return number;
}

const KINDS: Readonly<Record<ListKind, string>> = {
  number: 'a number',
  integer: 'an integer',
  flag: 'true, false, 1 or 0',
};

/** Checks that all lists of a row have one length. */
export function checkLengths(
  lists: Readonly<Record<string, readonly number[] | undefined>>,
  { file, row }: { file: string; row: number },
): void {
  const [first, ...others] = Object.entries(lists).filter(([, list]) => list !== undefined);
  const off = others.find(([, list]) => list!.length !== first![1]!.length);
  if (off === undefined) return;
  const expected = `${first![1]!.length} entries, as ${first![0]} has`;
  const field = `row ${row}, ${off[0]}`;
  throw new BatchFormatError({ code: 'wrong-length', file, field, expected, found: `${off[1]!.length}` });
}

function invalid({ file, field }: CellPlace, expected: string, value: unknown): BatchFormatError {
  const found = JSON.stringify(value)?.slice(0, 40) ?? typeof value;
  return new BatchFormatError({ code: 'invalid', file, field, expected, found });
}
