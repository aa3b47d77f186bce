/**
 * Bounds what decoding parquet may allocate, before anything is decoded. The decoder allocates whatever the headers state,
 * and a thread's heap limit would not help: one large allocation ends the whole process.
 */

import type { FileMetaData } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { getSchemaPath } from 'hyparquet/src/schema.js';
import { checkPageContent, type PageColumn } from './parquet-runs.ts';
import type { DumpSource } from './source.ts';

/** Bytes of the footer. */
const MAX_FOOTER_BYTES = 2 ** 26;
/** Bytes that the chosen columns of one row group may unfold to. */
const MAX_GROUP_BYTES = 2 ** 28;
/** Bytes that the page of a dictionary may unfold to: writers begin a new one, or none, after a megabyte or two. */
const MAX_DICTIONARY_BYTES = 2 ** 24;
/** Values of the chosen columns of one row group. */
const MAX_GROUP_VALUES = 2 ** 23;
/** The same of a file: row groups may name the same pages again and again. */
const MAX_FILE_BYTES = 2 ** 34;
const MAX_FILE_VALUES = 2 ** 28;
/** Elements of the schema, and row groups: each row group is read by the whole schema. */
const MAX_SCHEMA_ELEMENTS = 10_000;
const MAX_GROUPS = 2 ** 16;
/** Lists and structures in one another: each value can begin all of them again. */
const MAX_DEPTH = 32;
/** Bytes of a value of fixed length. */
const MAX_FIXED_BYTES = 2 ** 16;

/** Encodings that take no more memory than a page and its number of values say. Shared prefixes can take its square. */
const ENCODINGS: readonly (string | undefined)[] = [
  'PLAIN',
  'PLAIN_DICTIONARY',
  'RLE_DICTIONARY',
  'RLE',
  'DELTA_BINARY_PACKED',
  'DELTA_LENGTH_BYTE_ARRAY',
  'BYTE_STREAM_SPLIT',
];

/** A file that would take too much memory. The message says what was found. */
export class ParquetLimitError extends Error {
  override readonly name = 'ParquetLimitError';
}

type ColumnChunk = FileMetaData['row_groups'][number]['columns'][number];

/** `PAR1` as a number: the first and the last bytes of every file. */
const MAGIC = 0x31524150;
/** `PAR1`, the length of an empty footer, and `PAR1` again. */
const MIN_BYTES = 12;

/**
 * The end of the file, which the metadata can be read from. Throws a {@link ParquetLimitError}, or an Error for a file that
 * is cut off.
 */
export async function checkedFooter(source: DumpSource): Promise<ArrayBuffer> {
  const { byteLength } = source;
  const tail = new DataView(await source.slice(Math.max(0, byteLength - 8)));
  if (byteLength < MIN_BYTES || tail.getUint32(4, true) !== MAGIC)
    throw new Error(`the file is truncated after ${byteLength} bytes: it does not end with PAR1`);
  const length = tail.getUint32(0, true);
  const most = Math.min(MAX_FOOTER_BYTES, byteLength - 8);
  if (length > most) throw new ParquetLimitError(`a footer of ${length} bytes, at most ${most} are read`);
  const footer = await source.slice(byteLength - 8 - length);
  checkStruct(new DataView(footer), 0);
  return footer;
}

/** Throws a {@link ParquetLimitError} if the row groups have not the rows of the file, or there is too much of anything. */
export function checkMetadata(
  { schema, row_groups: groups, num_rows: rows }: FileMetaData,
  maxRows: number,
): void {
  limit('elements of a schema', schema.length, MAX_SCHEMA_ELEMENTS);
  limit('row groups', groups.length, MAX_GROUPS);
  limit('rows', Number(rows), maxRows);
  for (const { type_length: bytes = 0 } of schema) limit('bytes of a value', bytes, MAX_FIXED_BYTES);
  const all = groups.reduce(
    (sum, group) => sum + limit('rows of a group', Number(group.num_rows), maxRows),
    0,
  );
  if (all !== Number(rows)) throw new ParquetLimitError(`${all} rows in its row groups, ${rows} are stated`);
}

/** What was read of a file or of a row group. */
interface Held {
  bytes: number;
  values: number;
}

/**
 * Gives the check of the row groups of a file, which must be called in their order. It throws a {@link ParquetLimitError} if the
 * pages of the given columns of a group hold too many values or bytes, and a PageError if their content cannot be decoded.
 */
export function pagesCheck(
  source: DumpSource,
  schema: FileMetaData['schema'],
  unpackers: Readonly<Partial<Record<string, PageColumn['unpack']>>>,
): (chunks: readonly ColumnChunk[]) => Promise<void> {
  const ofFile: Held = { bytes: 0, values: 0 };
  return async (chunks) => {
    const ofGroup: Held = { bytes: 0, values: 0 };
    for (const { meta_data: meta } of chunks) {
      if (meta === undefined) throw new Error('a column without metadata');
      // The decoder takes 0 for no dictionary too.
      const start = Number(meta.dictionary_page_offset || meta.data_page_offset);
      const length = limit('bytes', Number(meta.total_compressed_size), MAX_GROUP_BYTES);
      limit('lists and structures in one another', meta.path_in_schema.length, MAX_DEPTH);
      const path = getSchemaPath(schema, meta.path_in_schema);
      // One value in it can stand in any number of places.
      if (path.some(({ element }) => element.logical_type?.type === 'VARIANT'))
        throw new ParquetLimitError('a column of the type VARIANT');
      const unpack = unpackers[meta.codec] ?? ((packed) => packed);
      const view = new DataView(await source.slice(start, start + length));
      addPages(view, ofGroup, { meta, path, unpack });
    }
    ofFile.bytes += ofGroup.bytes;
    ofFile.values += ofGroup.values;
    limit('bytes in all row groups', ofFile.bytes, MAX_FILE_BYTES);
    limit('values in all row groups', ofFile.values, MAX_FILE_VALUES);
  };
}

function addPages(view: DataView, held: Held, column: PageColumn): void {
  const reader = { view, offset: 0 };
  while (reader.offset < view.byteLength - 1) {
    checkStruct(view, reader.offset);
    const page = parquetHeader(reader);
    const own = page.data_page_header ?? page.data_page_header_v2 ?? page.dictionary_page_header;
    if (own !== undefined && !ENCODINGS.includes(own.encoding))
      throw new ParquetLimitError(`the encoding ${own.encoding}`);
    if (page.dictionary_page_header !== undefined)
      limit('bytes of a dictionary', page.uncompressed_page_size, MAX_DICTIONARY_BYTES);
    held.values += limit('values', own?.num_values ?? 0, MAX_GROUP_VALUES);
    held.bytes += limit('bytes', page.uncompressed_page_size, MAX_GROUP_BYTES);
    limit('values', held.values, MAX_GROUP_VALUES);
    limit('bytes', held.bytes, MAX_GROUP_BYTES);
    const size = limit('bytes', page.compressed_page_size, view.byteLength);
    const end = Math.min(reader.offset + size, view.byteLength);
    checkPageContent(
      new Uint8Array(view.buffer, view.byteOffset + reader.offset, end - reader.offset),
      page,
      column,
    );
    reader.offset += size;
  }
}

function limit(unit: string, count: number, most: number): number {
  if (count >= 0 && count <= most) return count;
  const where = /^(?:bytes|values)$/.test(unit) ? ' in a row group' : '';
  throw new ParquetLimitError(`${count} ${unit}${where}, at most ${most} are read`);
}

/** Types of Thrift's compact protocol. The others are booleans, which take no byte as a field, and varints. */
const STOP = 0;
const FALSE = 2;
const BYTE = 3;
const DOUBLE = 7;
const BINARY = 8;
const LIST = 9;
const STRUCT = 12;

/**
 * Walks a structure of Thrift's compact protocol. Every entry of a list takes a byte at least, so that all lists together
 * state no more entries than there are bytes. Throws a {@link ParquetLimitError}.
 */
function checkStruct(view: DataView, start: number): void {
  let at = start;
  let entries = 0;

  function varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = view.getUint8(at++);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }

  function skip(bytes: number): void {
    at += bytes;
  }

  function struct(): void {
    for (let head = view.getUint8(at++); (head & 0x0f) !== STOP; head = view.getUint8(at++)) {
      if (head >> 4 === 0) varint();
      const type = head & 0x0f;
      if (type > FALSE) value(type);
    }
  }

  function list(): void {
    const head = view.getUint8(at++);
    const size = head >> 4 === 15 ? varint() : head >> 4;
    entries += size;
    if (entries > view.byteLength) throw new ParquetLimitError(`lists of ${entries} entries in a header`);
    const type = head & 0x0f;
    for (let i = 0; i < size; i++) value(type <= FALSE ? BYTE : type);
  }

  function value(type: number): void {
    if (type === BYTE) skip(1);
    else if (type === DOUBLE) skip(8);
    else if (type === BINARY) skip(varint());
    else if (type === LIST) list();
    else if (type === STRUCT) struct();
    else varint();
  }

  struct();
}
