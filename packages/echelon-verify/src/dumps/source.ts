import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { bytesInWords } from '../format/budget.ts';
import { BatchFormatError } from '../format/format-error.ts';
import { inflate, isGzip } from '../format/inflate.ts';
import { MAX_JSON_BYTES } from '../format/parse-json.ts';
import { reading } from '../format/reading.ts';

/** A file that is read in parts. */
export interface DumpSource extends AsyncDisposable {
  readonly path: string;
  readonly byteLength: number;
  /** The bytes from `start` to `end` (exclusive), or fewer at the end of the file. */
  slice(start: number, end?: number): Promise<ArrayBuffer>;
}

/** Bytes of a packed dump at most, packed and unpacked: it is held in memory. */
const MAX_PACKED_BYTES = MAX_JSON_BYTES;

/**
 * Opens a file; gzip is unpacked. Throws a BatchFormatError for a directory, a device, a pipe or damaged gzip, a system error if
 * there is no such file.
 */
export async function openSource(path: string): Promise<DumpSource> {
  const source = await openPacked(path);
  if (!isGzip(new Uint8Array(await source.slice(0, 2)))) return source;
  await using packed = source;
  if (packed.byteLength > MAX_PACKED_BYTES) {
    const expected = `at most ${bytesInWords(MAX_PACKED_BYTES)}`;
    throw new BatchFormatError({ code: 'too-large', file: path, expected, found: 'more' });
  }
  const bytes = inflate(new Uint8Array(await packed.slice(0)), path, MAX_PACKED_BYTES);
  return {
    path,
    byteLength: bytes.length,
    slice: async (start, end) => new Uint8Array(bytes.subarray(start, end)).buffer,
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Opens a file as it is, packed or not. Errors as in {@link openSource}. */
export async function openPacked(path: string): Promise<DumpSource> {
  reading(path);
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stat = await file.stat();
  if (!stat.isFile()) {
    await file.close();
    const found = stat.isDirectory() ? 'a directory' : 'a pipe or a device';
    throw new BatchFormatError({ code: 'unreadable', file: path, expected: 'a file', found });
  }
  return {
    path,
    byteLength: stat.size,
    async slice(start, end = stat.size) {
      const length = Math.max(0, Math.min(end, stat.size) - start);
      const buffer = new ArrayBuffer(length);
      let at = 0;
      while (at < length) {
        const { bytesRead } = await file.read(new Uint8Array(buffer, at), { position: start + at });
        if (bytesRead === 0) break;
        at += bytesRead;
      }
      return at === length ? buffer : buffer.slice(0, at);
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
}

/** Runs `use` on the opened file and closes it. */
export async function withSource<T>(path: string, use: (source: DumpSource) => Promise<T>): Promise<T> {
  await using source = await openSource(path);
  return await use(source);
}
