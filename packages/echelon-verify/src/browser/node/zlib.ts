/** The part of node:zlib that the readers of batches use, for browsers. */
import { Gunzip } from 'fflate';

export const constants = { Z_SYNC_FLUSH: 2 };

/** Unpacks gzip. With `finishFlush` as much as the bytes hold. Throws if the data are damaged or larger than allowed. */
export function gunzipSync(
  bytes: Uint8Array,
  options: { maxOutputLength?: number; finishFlush?: number } = {},
): Uint8Array {
  const { maxOutputLength = Number.POSITIVE_INFINITY, finishFlush } = options;
  const parts: Uint8Array[] = [];
  let length = 0;
  const stream = new Gunzip((part) => {
    parts.push(part);
    length += part.length;
    if (length > maxOutputLength)
      throw Object.assign(new Error('too large'), { code: 'ERR_BUFFER_TOO_LARGE' });
  });
  // Packed bytes in small pieces: each unfolds to a bounded size before the next is read.
  const PIECE = 64 * 1024;
  for (let at = 0; at < bytes.length; at += PIECE) {
    const isLast = at + PIECE >= bytes.length && finishFlush === undefined;
    stream.push(bytes.subarray(at, at + PIECE), isLast);
  }
  const whole = new Uint8Array(length);
  let next = 0;
  for (const part of parts) {
    whole.set(part, next);
    next += part.length;
  }
  return whole;
}

/** No browser unpacks these at once: a reader says that the command does. */
export const zstdDecompressSync = undefined;
export const brotliDecompressSync = undefined;
