import type { Batch } from './batch.ts';
import { BatchFormatError } from './format-error.ts';
import { inflate, isGzip } from './inflate.ts';
import { readBatches } from './read-json.ts';
import { decodeBatch } from './wire.ts';

/** The tag of a protobuf batch's first field. */
const FIRST_TAG = 0x0a;

/**
 * Reads whatever a batch file holds: `echelon-batch/1` JSON or one protobuf batch of the wire, plain or in gzip,
 * told apart by their first bytes. `source` names the file in messages. Throws a BatchFormatError for anything
 * else.
 */
export function readBatchFile(bytes: Uint8Array, source: string): Batch[] {
  const plain = isGzip(bytes) ? inflate(bytes, source) : bytes;
  if (looksLikeJson(plain)) return readBatches(plain, source);
  if (plain[0] === FIRST_TAG) return [decodeBatch(plain, source)];
  throw new BatchFormatError({
    code: 'unreadable',
    file: source,
    expected: 'echelon-batch/1, as JSON or protobuf, plain or in gzip',
    found: plain.length === 0 ? 'an empty file' : 'something else',
  });
}

/** A brace or bracket behind blanks or a byte order mark. FIRST_TAG is a blank too: a line feed. */
function looksLikeJson(bytes: Uint8Array): boolean {
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  while (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === 0x0a || bytes[at] === 0x0d) at++;
  return bytes[at] === 0x7b || bytes[at] === 0x5b;
}
