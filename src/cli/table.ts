import { stripVTControlCharacters } from 'node:util';
import { type Command, Option } from 'commander';
import { type Output, table } from './output.ts';
import { shortened } from './shortened.ts';

/** A column of a table that fits the terminal. */
export interface Column {
  title: string;
  /** Columns with a number are left out where there is no room, the highest first. */
  drop?: number;
  /** Its cells may be cut to so many characters. */
  least?: number;
  /** How a cell is cut; default: in its middle. */
  cut?: (text: string, width: number) => string;
}

const GAP = 2;
/** Characters of an id that tell experiments apart which were not submitted within a few milliseconds. */
const MIN_START = 14;

/** Adds `-o wide` to a command that prints a table. */
export function withWide(command: Command): Command {
  return command.addOption(
    new Option('-o, --output <format>', 'wide: all columns, nothing cut').choices(['wide']),
  );
}

/** The columns of the terminal; undefined where nothing has to fit. */
export function widthFor(output: Output, { output: format }: { output?: string }): number | undefined {
  return format === 'wide' ? undefined : output.columns;
}

/** A table that is at most `width` columns wide, as far as its columns allow; undefined: as wide as it is. */
export function fittedTable(
  columns: readonly Column[],
  rows: readonly (string | number)[][],
  width: number = Number.POSITIVE_INFINITY,
): string {
  let kept = columns.map((column, at) => ({ ...column, at, wide: widest(column, rows, at) }));
  const total = (of: (one: (typeof kept)[number]) => number) =>
    kept.reduce((sum, one) => sum + of(one), GAP * (kept.length - 1));
  while (total(({ wide, least = wide }) => Math.min(wide, least)) > width) {
    const dropped = kept.reduce((most, one) => Math.max(most, one.drop ?? 0), 0);
    if (dropped === 0) break;
    kept = kept.filter(({ drop }) => drop !== dropped);
  }
  for (let over = total(({ wide }) => wide) - width; over > 0; over--) {
    const cuttable = kept.filter(({ wide, least = wide }) => wide > least);
    const [next] = cuttable.toSorted((one, other) => other.wide - one.wide);
    if (next === undefined) break;
    next.wide--;
  }
  const cell = (text: string | number, { wide, cut = shortened }: (typeof kept)[number]): string | number =>
    typeof text === 'string' && lengthOf(text) > wide ? cut(text, wide) : text;
  return table(
    kept.map((one) => String(cell(one.title, one))),
    rows.map((row) => kept.map((one) => cell(row[one.at]!, one))),
  );
}

function widest({ title }: Column, rows: readonly (string | number)[][], at: number): number {
  return rows.reduce((most, row) => Math.max(most, lengthOf(String(row[at]))), title.length);
}

/** Without colours; of a cell with several lines the longest counts. */
function lengthOf(text: string): number {
  return Math.max(
    ...stripVTControlCharacters(text)
      .split('\n')
      .map((line) => [...line].length),
  );
}

/** A column of ids, which are cut to a start that is unique among them. */
export function idColumn(ids: readonly string[], title = 'ID'): Column {
  const sorted = ids.toSorted();
  const shared = sorted.slice(1).map((id, at) => commonStart(id, sorted[at]!) + 1);
  return { title, least: Math.max(MIN_START, ...shared), cut: (text, width) => text.slice(0, width) };
}

function commonStart(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}
