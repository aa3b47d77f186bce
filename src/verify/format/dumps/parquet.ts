// A namespace, since Node 20 does not export zstdDecompressSync: an import by name would keep the module from loading.
import * as zlib from 'node:zlib';
import { type FileMetaData, parquetMetadata, parquetReadObjects } from 'hyparquet';
import { MAX_ROWS } from '../batch.ts';
import { BatchFormatError } from '../format-error.ts';
import { checkedFooter, checkPages, ParquetLimitError } from './parquet-limits.ts';
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
}

/** True if the bytes begin as a parquet file does. */
export function isParquet(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 4)).toString('latin1') === 'PAR1';
}

/** Reads the columns' names and the number of rows. Throws a BatchFormatError. */
export async function readParquetHead(source: DumpSource): Promise<ParquetHead> {
  const metadata = await orUnreadable(source, async () =>
    parquetMetadata(await checkedFooter(source), { geoparquet: false }),
  );
  const rows = Number(metadata.num_rows);
  const expected = `at most ${MAX_ROWS} rows`;
  if (!(rows >= 0 && rows <= MAX_ROWS))
    throw new BatchFormatError({ code: 'too-large', file: source.path, expected, found: `${rows}` });
  return { rows, columns: columnsOf(metadata), metadata };
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
    columns.push({ name, isNumber });
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
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rows = Number(group.num_rows);
    const range = { rowStart, rowEnd: rowStart + rows };
    const chunks = group.columns.filter(({ meta_data: meta }) =>
      columns.includes(meta?.path_in_schema[0] ?? ''),
    );
    yield await orUnreadable(source, async () => {
      await checkPages(source, chunks);
      return await parquetReadObjects({
        file: source,
        metadata,
        columns: [...columns],
        ...range,
        rowFormat: 'object',
        compressors: { ZSTD: unzstd },
      });
    });
    rowStart += rows;
  }
}

function unzstd(input: Uint8Array, outputLength: number): Uint8Array {
  return zlib.zstdDecompressSync(input, { maxOutputLength: Math.max(1, outputLength) });
}

async function orUnreadable<T>(source: DumpSource, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof BatchFormatError) throw cause;
    const found = (cause as Error).message;
    const file = source.path;
    if (cause instanceof ParquetLimitError) {
      const expected = 'a parquet file of bounded size';
      throw new BatchFormatError({ code: 'too-large', file, expected, found }, { cause });
    }
    const expected = 'a complete parquet file';
    throw new BatchFormatError({ code: 'unreadable', file, expected, found }, { cause });
  }
}
