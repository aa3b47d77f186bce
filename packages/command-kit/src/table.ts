import { columnsOf, padded, partsOfWord, shortened, wrapped } from './width.ts';

// An import of `node:util` would load all its parts.
const { styleText } = process.getBuiltinModule('node:util');

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
/** Characters that distinguish the ids of experiments that were not submitted within a few milliseconds. */
const MIN_START = 14;

/** A column whose cells are broken between words if the table is too wide. */
export function textColumn(title: string, cells: readonly (string | number)[]): Column {
  const words = [title, ...cells].flatMap((cell) => String(cell).split(/\s+/)).flatMap(partsOfWord);
  return { title, minWidth: words.reduce((most, word) => Math.max(most, columnsOf(word)), 0), cut: wrapped };
}

/** A table that breaks its cells between words to fit `width` columns; undefined: no limit. */
export function table(head: string[], rows: (string | number)[][], width?: number | undefined): string {
  const columns = head.map((title, at) =>
    textColumn(
      title,
      rows.map((row) => row[at]!),
    ),
  );
  return fittedTable(columns, rows, width);
}

/** A table with a head and no lines between its cells. */
function tableOf(head: readonly string[], rows: (string | number)[][]): string {
  const bold = (title: string) => title.replace(/.+/g, (line) => styleText('bold', line));
  const all = [head.map(bold), ...rows.map((row) => row.map(String))];
  const widths = head.map((_title, at) => Math.max(...all.map((row) => lengthOf(row[at]!))));
  return all.flatMap((row) => linesOf(row, widths)).join('\n');
}

/** The lines of a row: as many as its highest cell has. */
function linesOf(row: readonly string[], widths: readonly number[]): string[] {
  const cells = row.map((cell) => cell.split('\n'));
  const height = Math.max(...cells.map(({ length }) => length));
  return Array.from({ length: height }, (_line, at) =>
    cells
      .map((lines, column) => padded(lines[at] ?? '', widths[column]!))
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
}

/** A table that fits `width` columns; undefined: no limit. If its columns do not allow that, each cell takes a line. */
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
  if (total(({ wide, minWidth = wide }) => Math.min(wide, minWidth)) > width)
    return rows.map((row) => factsOf(columns, row, width)).join('\n\n');
  for (let over = total(({ wide }) => wide) - width; over > 0; over--) {
    const cuttable = kept.filter(({ wide, minWidth = wide }) => wide > minWidth);
    const [next] = cuttable.toSorted((one, other) => other.wide - one.wide);
    if (next === undefined) break;
    next.wide--;
  }
  const cell = (text: string | number, { wide, cut = shortened }: (typeof kept)[number]): string | number =>
    typeof text === 'string' && lengthOf(text) > wide ? cut(text, wide) : text;
  return tableOf(
    kept.map((one) => String(cell(one.title, one))),
    rows.map((row) => kept.map((one) => cell(row[one.at]!, one))),
  );
}

/** A row that is too wide for a table: each cell in a line of its own, after its title. */
function factsOf(columns: readonly Column[], row: readonly (string | number)[], width: number): string {
  const titleWidth = Math.max(...columns.map(({ title }) => columnsOf(title)));
  const lines = columns.map(({ title }, at) => wrapped(`${padded(title, titleWidth)}  ${row[at]}`, width));
  return lines.join('\n');
}

function widest({ title }: Column, rows: readonly (string | number)[][], at: number): number {
  return rows.reduce((most, row) => Math.max(most, lengthOf(String(row[at]))), columnsOf(title));
}

/** The width of a cell: that of its longest line. */
function lengthOf(text: string): number {
  return Math.max(...text.split('\n').map(columnsOf));
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
