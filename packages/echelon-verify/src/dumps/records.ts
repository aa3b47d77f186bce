/** Rows of a table, whatever kind of file it is: JSON lines, a JSON array, a table of W&B, CSV with any delimiter, or parquet. */

import { parse } from 'csv-parse/stream';
import { BatchFormatError } from '../format/format-error.ts';
import { MAX_JSON_BYTES } from '../format/parse-json.ts';
import { type Line, linesOf } from './json-lines.ts';
import { isParquet, parquetRows, readParquetHead } from './parquet.ts';
import { keysOfJson, PickJsonError, pickJson, type Selection } from './pick-json.ts';
import type { DumpSource } from './source.ts';

/** One row: the chosen columns by name. */
export type TableRow = Readonly<Record<string, unknown>>;

/** Bytes of one CSV record at most. */
const MAX_RECORD_BYTES = 2 ** 24;
const CHUNK_BYTES = 2 ** 20;

/** The rows with the chosen columns. Holds one line, record or row group at a time, or all of a JSON array. Throws a BatchFormatError. */
export async function* recordsOf(source: DumpSource, columns: readonly string[]): AsyncGenerator<TableRow> {
  const bytes = new Uint8Array(await source.slice(0, START_BYTES));
  const layout = layoutOf(bytes);
  if (layout.kind === 'parquet') yield* parquetRecords(source, columns);
  else if (layout.kind === 'lines') yield* jsonRecords(source, columns);
  else if (layout.kind === 'csv') yield* csvRecords(source, columns, layout.delimiter);
  else yield* jsonTable(source, columns, layout.kind);
}

/** Bytes at the start of a file that decide its layout. */
const START_BYTES = 2 ** 16;

/** How a table is written: `array` is a JSON array of records, `columns` W&B's object of `columns` and `data`. */
export type TableLayout =
  | { readonly kind: 'parquet' }
  | { readonly kind: 'lines' }
  | { readonly kind: 'array' | 'columns'; readonly names: readonly string[] }
  | { readonly kind: 'csv'; readonly delimiter: string; readonly names: readonly string[] };

/** The layout by the start of a file. Anything that is none of the others is taken for CSV. */
export function layoutOf(bytes: Uint8Array): TableLayout {
  if (isParquet(bytes)) return { kind: 'parquet' };
  const text = Buffer.from(bytes)
    .toString('utf8')
    .replace(/^\ufeff/, '');
  if (/^\s*\[\s*\{/.test(text)) {
    const names = [...keysOfJson(Buffer.from(text.slice(text.indexOf('{')))).keys()];
    return { kind: 'array', names };
  }
  if (text.startsWith('{')) {
    const columns = /^\{\s*"columns"\s*:\s*(\["[^\]]*\])/.exec(text)?.[1];
    return columns === undefined ? { kind: 'lines' } : { kind: 'columns', names: namesIn(columns) };
  }
  const [line = ''] = text.split(/\r?\n/, 1);
  const delimiter = DELIMITERS.reduce((a, b) => (line.split(b).length > line.split(a).length ? b : a));
  const names = line.split(delimiter).map((name) => name.trim().replace(/^"(.*)"$/, '$1'));
  return { kind: 'csv', delimiter, names };
}

const DELIMITERS = [',', ';', '\t'];

function namesIn(columns: string): string[] {
  try {
    return (JSON.parse(columns) as unknown[]).map(String);
  } catch {
    return [];
  }
}

/** The rows of a JSON file that is one value. */
async function* jsonTable(
  source: DumpSource,
  columns: readonly string[],
  kind: 'array' | 'columns',
): AsyncGenerator<TableRow> {
  const { path } = source;
  if (source.byteLength > MAX_JSON_BYTES) {
    const expected = `JSON of at most ${MAX_JSON_BYTES} bytes in one value (JSON lines may be longer)`;
    throw new BatchFormatError({ code: 'too-large', file: path, expected, found: `${source.byteLength}` });
  }
  const line = { number: 1, bytes: new Uint8Array(await source.slice(0)) };
  if (kind === 'array') {
    const rows = pickedLine(path, line, selectionOf(columns));
    for (const row of rows as unknown[]) yield isRow(row) ? flat(row, columns) : {};
    return;
  }
  const { columns: names, data } = pickedLine(path, line, { columns: true, data: true }) as TableRow;
  if (!Array.isArray(names) || !Array.isArray(data)) {
    const expected = 'a table of columns and data';
    throw new BatchFormatError({ code: 'invalid', file: path, expected, found: 'another object' });
  }
  const places = columns.map((name) => names.indexOf(name));
  for (const row of data)
    yield Object.fromEntries(
      columns.map((name, at) => [
        name,
        places[at]! < 0 || !Array.isArray(row) ? undefined : row[places[at]!],
      ]),
    );
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

async function* csvRecords(
  source: DumpSource,
  columns: readonly string[],
  delimiter: string,
): AsyncGenerator<TableRow> {
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
    delimiter,
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
