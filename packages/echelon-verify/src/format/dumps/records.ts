/** Rows of a table, whatever kind of file it is: JSON lines, CSV or parquet. */

import { parse } from 'csv-parse/stream';
import { BatchFormatError } from '../format-error.ts';
import { type Line, linesOf } from './json-lines.ts';
import { isParquet, parquetRows, readParquetHead } from './parquet.ts';
import { PickJsonError, pickJson, type Selection } from './pick-json.ts';
import type { DumpSource } from './source.ts';

/** One row: the chosen columns by name. */
export type TableRow = Readonly<Record<string, unknown>>;

/** Bytes of one CSV record at most. */
const MAX_RECORD_BYTES = 2 ** 24;
const CHUNK_BYTES = 2 ** 20;

/** The rows with the chosen columns. Holds one line, record or row group at a time. Throws a BatchFormatError. */
export async function* recordsOf(source: DumpSource, columns: readonly string[]): AsyncGenerator<TableRow> {
  const start = new Uint8Array(await source.slice(0, 4));
  if (isParquet(start)) yield* parquetRecords(source, columns);
  else if (start[0] === 0x7b) yield* jsonRecords(source, columns);
  else yield* csvRecords(source, columns);
}

async function* parquetRecords(source: DumpSource, columns: readonly string[]): AsyncGenerator<TableRow> {
  const head = await readParquetHead(source);
  const known = columns.filter((name) => head.columns.some((column) => column.name === name));
  for await (const rows of parquetRows(source, head, known)) yield* rows;
}

async function* jsonRecords(source: DumpSource, columns: readonly string[]): AsyncGenerator<TableRow> {
  const selection = selectionOf(columns);
  for await (const row of pickedLines(source, selection)) yield isRow(row) ? flat(row, columns) : {};
}

/** The chosen parts of each line of a file of JSON lines. Throws a BatchFormatError that names the line. */
export async function* pickedLines(source: DumpSource, selection: Selection): AsyncGenerator<unknown> {
  for await (const line of linesOf(source)) yield pickedLine(source.path, line, selection);
}

/** The chosen parts of one line. Throws a BatchFormatError that names it. */
export function pickedLine(file: string, { bytes, number }: Line, selection: Selection): unknown {
  try {
    return pickJson(bytes, selection);
  } catch (error) {
    if (!(error instanceof PickJsonError)) throw error;
    const where = { file, field: `line ${number}` };
    throw new BatchFormatError({ code: 'unreadable', ...where, expected: 'JSON', found: error.message });
  }
}

/** A column `a.b` is the key `b` of the object `a`. */
function selectionOf(columns: readonly string[]): Selection {
  const selection: Record<string, Selection> = {};
  for (const column of columns) {
    const [first, ...rest] = column.split('.');
    selection[first!] = rest.length === 0 ? true : selectionOf([rest.join('.')]);
  }
  return selection;
}

function flat(row: TableRow, columns: readonly string[]): TableRow {
  return Object.fromEntries(columns.map((column) => [column, column.split('.').reduce(inside, row)]));
}

function inside(value: unknown, key: string): unknown {
  return isRow(value) ? value[key] : undefined;
}

function isRow(value: unknown): value is TableRow {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function* csvRecords(source: DumpSource, columns: readonly string[]): AsyncGenerator<TableRow> {
  let from = 0;
  const bytes = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (from >= source.byteLength) return controller.close();
      controller.enqueue(Buffer.from(await source.slice(from, from + CHUNK_BYTES)));
      from += CHUNK_BYTES;
    },
  });
  const parser = parse({
    columns: (names: string[]) => uniqueNames(names, source.path),
    bom: true,
    max_record_size: MAX_RECORD_BYTES,
    skip_empty_lines: true,
  });
  try {
    for await (const record of bytes.pipeThrough<Record<string, string>>(parser))
      yield Object.fromEntries(columns.map((name) => [name, cellOf(record[name])]));
  } catch (cause) {
    if (cause instanceof BatchFormatError) throw cause;
    const found = (cause as Error).message;
    throw new BatchFormatError({ code: 'unreadable', file: source.path, expected: 'CSV', found }, { cause });
  }
}

/** The names of a header. Of two columns with one name, nothing tells which is meant. */
function uniqueNames(names: string[], file: string): string[] {
  const twice = names.find((name, at) => name !== '' && names.indexOf(name) !== at);
  if (twice === undefined) return names;
  const found = `two columns ${JSON.stringify(twice)}`;
  throw new BatchFormatError({
    code: 'bad-key',
    file,
    field: 'line 1',
    expected: 'one column of each name',
    found,
  });
}

/** Numbers as numbers, an empty cell as absent. */
function cellOf(text: string | undefined): unknown {
  if (text === undefined || text === '') return undefined;
  const number = Number(text);
  if (!Number.isNaN(number)) return number;
  const word = /^\s*([+-]?)(nan|inf|infinity)\s*$/i.exec(text);
  if (word === null) return text;
  const infinite = word[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return word[2]!.toLowerCase() === 'nan' ? Number.NaN : infinite;
}
