import { stripVTControlCharacters, styleText } from 'node:util';
import Table from 'cli-table3';
import { type Command, Option } from 'commander';
import type { Output } from './output.ts';
import { shortened } from './shortened.ts';

/** A column of a table that fits the terminal. */
export interface Column {
  title: string;
  /** Columns with a number are omitted if the table is too wide, the highest number first. */
  drop?: number;
  /** Width to which the cells may be cut. Default: they are never cut. */
  minWidth?: number;
  /** How a cell is cut. Default: in its middle. */
  cut?: (text: string, width: number) => string;
}

const GAP = 2;
/** The library draws lines unless each is an empty text. */
const NO_BORDER = Object.fromEntries(
  ['top', 'mid', 'bottom', 'left', 'right'].flatMap((side) =>
    ['', '-mid', '-left', '-right'].map((part) => [`${side}${part}`, '']),
  ),
);

/** Characters that distinguish the ids of experiments that were not submitted within a few milliseconds. */
const MIN_START = 14;

/** Adds `-o wide` to a command that prints a table. */
export function withWide(command: Command): Command {
  return command.addOption(
    new Option('-o, --output <format>', '`wide` prints all columns in full').choices(['wide']),
  );
}

/** The width that a table must fit: the terminal's, or undefined (no limit) with `-o wide` or without a terminal. */
export function widthFor(output: Output, { output: format }: { output?: string }): number | undefined {
  return format === 'wide' ? undefined : output.columns;
}

/** A table with a head and no lines between its cells. */
export function table(head: string[], rows: (string | number)[][]): string {
  const made = new Table({
    head: head.map((title) => styleText('bold', title)),
    chars: { ...NO_BORDER, middle: ' '.repeat(GAP) },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  made.push(...rows);
  return made
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** A table that fits `width` columns as far as its columns allow; undefined: no limit. */
export function fittedTable(
  columns: readonly Column[],
  rows: readonly (string | number)[][],
  width: number = Number.POSITIVE_INFINITY,
): string {
  let kept = columns.map((column, at) => ({ ...column, at, wide: widest(column, rows, at) }));
  const total = (of: (one: (typeof kept)[number]) => number) =>
    kept.reduce((sum, one) => sum + of(one), GAP * (kept.length - 1));
  while (total(({ wide, minWidth = wide }) => Math.min(wide, minWidth)) > width) {
    const dropped = kept.reduce((most, one) => Math.max(most, one.drop ?? 0), 0);
    if (dropped === 0) break;
    kept = kept.filter(({ drop }) => drop !== dropped);
  }
  for (let over = total(({ wide }) => wide) - width; over > 0; over--) {
    const cuttable = kept.filter(({ wide, minWidth = wide }) => wide > minWidth);
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

/** The width of a cell without its colours: that of its longest line. */
function lengthOf(text: string): number {
  return Math.max(
    ...stripVTControlCharacters(text)
      .split('\n')
      .map((line) => [...line].length),
  );
}

/** A column of ids, which may be cut to a prefix that is unique among them. */
export function idColumn(ids: readonly string[], title = 'ID'): Column {
  const sorted = ids.toSorted();
  const shared = sorted.slice(1).map((id, at) => commonPrefix(id, sorted[at]!) + 1);
  return { title, minWidth: Math.max(MIN_START, ...shared), cut: (text, width) => text.slice(0, width) };
}

function commonPrefix(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}
