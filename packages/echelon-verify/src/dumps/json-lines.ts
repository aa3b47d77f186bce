import { BatchFormatError } from '../format/format-error.ts';
import type { DumpSource } from './source.ts';

/** Bytes of one line at most. */
const MAX_LINE_BYTES = 2 ** 28;

const CHUNK_BYTES = 2 ** 20;
const LINE_FEED = 0x0a;

/** One line of a file, without its line feed. */
export interface Line {
  /** From 1. */
  readonly number: number;
  readonly bytes: Uint8Array;
}

/** The lines of a file that are not blank. Memory is bounded by the longest line; a longer one than the limit is refused. */
export async function* linesOf(source: DumpSource, maxBytes = MAX_LINE_BYTES): AsyncGenerator<Line> {
  let number = 1;
  let parts: Uint8Array[] = [];
  let held = 0;
  for (let from = 0; from < source.byteLength; from += CHUNK_BYTES) {
    const chunk = new Uint8Array(await source.slice(from, from + CHUNK_BYTES));
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      const bytes = joined(parts, chunk.subarray(start, end));
      if (!isBlank(bytes)) yield { number, bytes };
      number++;
      parts = [];
      held = 0;
      start = end + 1;
    }
    held += chunk.length - start;
    if (held > maxBytes) throw tooLong(source.path, number, maxBytes);
    parts.push(chunk.subarray(start));
  }
  const last = joined(parts, new Uint8Array(0));
  if (!isBlank(last)) yield { number, bytes: last };
}

function joined(parts: readonly Uint8Array[], last: Uint8Array): Uint8Array {
  return parts.length === 0 ? last : Buffer.concat([...parts, last]);
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09);
}

function tooLong(file: string, line: number, maxBytes: number): BatchFormatError {
  const expected = `lines of at most ${maxBytes} bytes`;
  return new BatchFormatError({ code: 'too-large', file, field: `line ${line}`, expected, found: 'more' });
}
