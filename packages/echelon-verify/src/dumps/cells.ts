/** Numbers in the cells of a dump: absent, of another type, and not-a-number are three different things. */

import { BatchFormatError } from '../format/format-error.ts';
import type { DumpStep } from './adapter.ts';

/** Where a cell stands. */
export interface CellPlace {
  readonly file: string;
  /** Such as "row 3, advantage". */
  readonly field: string;
}

/** The number in a cell; undefined for null and for what is absent. Throws a BatchFormatError for anything else. */
export function numberIn(value: unknown, { file, field }: CellPlace): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint' || typeof value === 'boolean') return Number(value);
  const found = JSON.stringify(value)?.slice(0, 40) ?? typeof value;
  throw new BatchFormatError({ code: 'invalid', file, field, expected: 'a number', found });
}

/** The numbers of a column, each at `row N, NAME` or what `rowName` says. */
export function numbersIn(
  values: Iterable<unknown>,
  name: string,
  { file, rowName = (row) => `row ${row}` }: { file: string; rowName?: (row: number) => string },
): (number | undefined)[] {
  return Array.from(values, (value, row) => numberIn(value, { file, field: `${rowName(row)}, ${name}` }));
}

/** Numbers as a column, NaN for an absent one. */
export const columnOf = (values: readonly (number | undefined)[]): Float64Array =>
  Float64Array.from(values, (value = Number.NaN) => value);

/** 1 for each absent number; undefined if all are there. */
function absentIn(values: readonly (number | undefined)[]): Uint8Array | undefined {
  if (!values.includes(undefined)) return undefined;
  return Uint8Array.from(values, (value) => (value === undefined ? 1 : 0));
}

/** The advantages of a step; none if every row lacks its own. */
export function advantagesOf(
  values: readonly (number | undefined)[],
): Pick<DumpStep, 'advantage' | 'unreported'> {
  if (values.every((value) => value === undefined)) return {};
  const unreported = absentIn(values);
  return { advantage: columnOf(values), ...(unreported === undefined ? {} : { unreported }) };
}

/** The rewards of a step whose format has no sign for a reward that no function gave. */
export function rewardsOf(values: readonly (number | undefined)[]): Pick<DumpStep, 'reward' | 'unrewarded'> {
  const unrewarded = absentIn(values);
  return { reward: columnOf(values), ...(unrewarded === undefined ? {} : { unrewarded }) };
}
