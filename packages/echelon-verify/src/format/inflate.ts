import { constants, gunzipSync } from 'node:zlib';
import { bytesInWords } from './budget.ts';
import { BatchFormatError } from './format-error.ts';

/** Bytes that a compressed file may unfold to. */
export const MAX_INFLATED_BYTES = 1024 * 1024 * 1024;

/** True if the bytes begin as gzip does. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** Unpacks gzip, in bounded memory. Throws a BatchFormatError if the data are damaged, cut off or too large. */
export function inflate(bytes: Uint8Array, file: string, maxBytes: number = MAX_INFLATED_BYTES): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      const expected = `at most ${bytesInWords(maxBytes)} after unpacking`;
      throw new BatchFormatError({ code: 'too-large', file, expected, found: 'more' }, { cause });
    }
    const found = (cause as Error).message;
    throw new BatchFormatError(
      { code: 'unreadable', file, expected: 'a complete gzip file', found },
      { cause },
    );
  }
}

const START_BYTES = 4096;

/** The first bytes of what is packed; none if the start is damaged. Takes at most some megabytes. */
export function inflateStart(bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes.subarray(0, START_BYTES), { finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return new Uint8Array(0);
  }
}
