import { nearestName } from 'command-kit/nearest';
import { inflateStart, isGzip } from '../format/inflate.ts';
import type { DumpAdapter, FileStart, Mapping } from './adapter.ts';
import { MS_SWIFT } from './ms-swift.ts';
import { NEMO_RL } from './nemo-rl.ts';
import { isParquet, readParquetHead } from './parquet.ts';
import { keysOfJson } from './pick-json.ts';
import { PRIME_RL } from './prime-rl.ts';
import { layoutOf } from './records.ts';
import { RLLM } from './rllm.ts';
import { ROLL } from './roll.ts';
import { SLIME } from './slime.ts';
import { type DumpSource, openPacked, withSource } from './source.ts';
import { hasColumns, KNOWN_TABLES, TABLE } from './table.ts';
import { isZip } from './torch-zip.ts';
import { TRL } from './trl.ts';
import { unmapped } from './unknown-table.ts';
import { VERL } from './verl.ts';

/** All adapters, the more particular before the general: the only list of them. */
export const ADAPTERS: readonly DumpAdapter[] = [
  TRL,
  MS_SWIFT,
  NEMO_RL,
  SLIME,
  PRIME_RL,
  VERL,
  ROLL,
  RLLM,
  ...KNOWN_TABLES,
  TABLE,
];

/** Bytes at the start of a file that decide its format. */
const START_BYTES = 2 ** 16;
const LINE_FEED = 0x0a;

/** The adapter of a name. Throws a RangeError that names the adapters. */
export function adapterOf(name: string): DumpAdapter {
  const found = ADAPTERS.find((adapter) => adapter.name === name);
  if (found !== undefined) return found;
  const names = ADAPTERS.map((adapter) => adapter.name);
  const near = nearestName(name, names);
  throw new RangeError(
    `there is no format ${JSON.stringify(name)}: ${near === undefined ? `the formats are ${names.join(', ')}` : `did you mean ${near}?`}`,
  );
}

/**
 * The adapter that reads a file, `native` for the project's own formats, undefined for any other file. A file with all
 * columns of `map` is a table. Throws a BatchFormatError for a table that lacks some of them.
 */
export async function adapterFor(
  path: string,
  map: Mapping = {},
): Promise<DumpAdapter | 'native' | undefined> {
  if (await isNative(path)) return 'native';
  const start = await fileStart(path);
  const found = ADAPTERS.find((adapter) => adapter.matches(start));
  if (found !== undefined) return found;
  const columns = Object.values(map);
  if (columns.length === 0) return undefined;
  if (hasColumns(start, columns)) return TABLE;
  const fault = unmapped(start, columns);
  if (fault !== undefined) throw fault;
  return undefined;
}

/** The beginning of a file, as far as it decides the format. Throws as `openSource`. */
export async function fileStart(path: string): Promise<FileStart> {
  return await withSource(path, startOf);
}

async function startOf(source: DumpSource): Promise<FileStart> {
  const bytes = new Uint8Array(await source.slice(0, START_BYTES));
  const { path } = source;
  if (isParquet(bytes)) return { path, bytes, parquet: await readParquetHead(source), isZip: false };
  const plain = { path, bytes, isZip: isZip(bytes) };
  if (plain.isZip) return plain;
  const layout = layoutOf(bytes);
  if (layout.kind === 'lines') return { ...plain, keys: keysOfJson(await firstLine(source, bytes)) };
  if (!('names' in layout) || (layout.kind === 'csv' && !isHeader(layout.names))) return plain;
  return { ...plain, header: layout.names };
}

/** True for names that can be those of columns: a line of text with several of them. */
function isHeader(names: readonly string[]): boolean {
  return names.length > 1 && !names.some((name) => /[\p{Cc}\ufffd]/u.test(name));
}

/** The first line; of a line that never ends as much as tells its keys, and of an object over many lines the start. */
async function firstLine(source: DumpSource, start: Uint8Array): Promise<Uint8Array> {
  const end = start.indexOf(LINE_FEED);
  if (end === 1) return start;
  if (end !== -1) return start.subarray(0, end);
  const more = new Uint8Array(await source.slice(0, MAX_FIRST_LINE_BYTES));
  const far = more.indexOf(LINE_FEED);
  return far === -1 ? more : more.subarray(0, far);
}

const MAX_FIRST_LINE_BYTES = 2 ** 28;

/** `echelon-batch/1` to `/3`, plain or in gzip: JSON with `batches`, or a protobuf batch, which begins with the format's name. */
async function isNative(path: string): Promise<boolean> {
  await using source = await openPacked(path);
  const bytes = new Uint8Array(await source.slice(0, START_BYTES));
  const text = Buffer.from(isGzip(bytes) ? inflateStart(bytes) : bytes).toString('latin1');
  return /echelon-batch\/[123]/.test(text) || /^\s*\{[^{[]*"batches"/.test(text);
}
