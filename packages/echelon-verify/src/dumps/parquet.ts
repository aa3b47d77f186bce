// A namespace, since older Node and browsers lack some functions: an import by name would keep the module from loading.
import * as zlib from 'node:zlib';
import { type Compressors, type FileMetaData, parquetMetadata, parquetReadObjects } from 'hyparquet';
import { MAX_ROWS } from '../format/batch.ts';
import { BatchFormatError } from '../format/format-error.ts';
import { progressed } from '../format/reading.ts';
import { checkedFooter, checkMetadata, ParquetLimitError, pagesCheck } from './parquet-limits.ts';
import { PageError, unpackSnappy } from './parquet-runs.ts';
import type { DumpSource } from './source.ts';

/** What the end of a parquet file says. */
export interface ParquetHead {
  readonly rows: number;
  /** The columns of the table, in order. */
  readonly columns: readonly ParquetColumn[];
  readonly metadata: FileMetaData;
}

export interface ParquetColumn {
  readonly name: string;
  /** True for integers, floating-point numbers and booleans. */
  readonly isNumber: boolean;
  /** True for floating-point numbers. */
  readonly isFloat: boolean;
}

/** True if the bytes begin as a parquet file does. */
export function isParquet(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 4)).toString('latin1') === 'PAR1';
}

/** Reads the columns' names and the number of rows. Throws a BatchFormatError. */
export async function readParquetHead(source: DumpSource): Promise<ParquetHead> {
  return await orUnreadable(source, async () => {
    const metadata = parquetMetadata(await checkedFooter(source), { geoparquet: false });
    checkMetadata(metadata, MAX_ROWS);
    return { rows: Number(metadata.num_rows), columns: columnsOf(metadata), metadata };
  });
}

function columnsOf({ schema }: FileMetaData): ParquetColumn[] {
  const columns: ParquetColumn[] = [];
  for (let at = 1; at < schema.length; at += sizeOf(schema, at)) {
    const { name, type, num_children, logical_type, converted_type } = schema[at]!;
    const isNumber =
      num_children === undefined &&
      logical_type === undefined &&
      (converted_type === undefined || /INT/.test(converted_type)) &&
      ['INT32', 'INT64', 'FLOAT', 'DOUBLE', 'BOOLEAN'].includes(type ?? '');
    columns.push({ name, isNumber, isFloat: isNumber && (type === 'DOUBLE' || type === 'FLOAT') });
  }
  return columns;
}

/** Elements of the flattened schema that belong to the one at `at`, itself included. */
function sizeOf(schema: FileMetaData['schema'], at: number): number {
  let open = 1;
  let end = at;
  while (open > 0 && end < schema.length) open += (schema[end++]!.num_children ?? 0) - 1;
  return end - at;
}

/** The rows of chosen columns, one row group after another. Throws a BatchFormatError. */
export async function* parquetRows(
  source: DumpSource,
  { metadata }: ParquetHead,
  columns: readonly string[],
): AsyncGenerator<Record<string, unknown>[]> {
  const check = pagesCheck(source, metadata.schema, COMPRESSORS);
  for (const group of metadata.row_groups) {
    const chunks = group.columns.filter(({ meta_data: meta }) =>
      columns.includes(meta?.path_in_schema[0] ?? ''),
    );
    yield await orUnreadable(source, async () => {
      await check(chunks);
      progressed();
      return await parquetReadObjects({
        file: source,
        // Only this group: the reader goes through all that it is given.
        metadata: { ...metadata, row_groups: [group] },
        columns: [...columns],
        rowFormat: 'object',
        compressors: COMPRESSORS,
      });
    });
  }
}

/** A function of node:zlib, undefined if the runtime lacks it. */
type Unpack = ((input: Uint8Array, options: { maxOutputLength: number }) => Uint8Array) | undefined;

const COMPRESSORS: Compressors = {
  SNAPPY: unpackSnappy,
  ZSTD: unpacking('zstd', zlib.zstdDecompressSync),
  GZIP: unpacking('gzip', zlib.gunzipSync),
  BROTLI: unpacking('brotli', zlib.brotliDecompressSync),
};

/** A compression that this runtime does not unpack. */
class CompressionError extends Error {
  override readonly name = 'CompressionError';
}

function unpacking(name: string, unpack: Unpack): NonNullable<Compressors['ZSTD']> {
  return (input, bytes) => {
    if (unpack === undefined) throw new CompressionError(name);
    return unpack(input, { maxOutputLength: Math.max(1, bytes) });
  };
}

async function orUnreadable<T>(source: DumpSource, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof BatchFormatError) throw cause;
    const fault = (code: 'too-large' | 'unreadable', expected: string, found: string) =>
      new BatchFormatError({ code, file: source.path, expected, found }, { cause });
    const { message } = cause as Error;
    if (cause instanceof ParquetLimitError)
      throw fault('too-large', 'a parquet file of bounded size', message);
    if (cause instanceof CompressionError)
      throw fault(
        'unreadable',
        'a parquet file that can be unpacked here',
        `${message}, which \`echelon verify\` reads with Node 22.15 or later`,
      );
    if (cause instanceof PageError) throw fault('unreadable', WHOLE, message);
    // The reader went past the end of a part, or found other fields than a part has.
    if ((cause instanceof RangeError && !('code' in cause)) || cause instanceof TypeError)
      throw fault('unreadable', WHOLE, 'a part that ends early or is damaged');
    throw fault('unreadable', WHOLE, message);
  }
}

const WHOLE = 'a complete parquet file';
