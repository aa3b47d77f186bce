import { RayRequestError } from './errors.ts';
import type { GetResponse } from './protocol.ts';

/** Bytes per chunk, as Ray itself cuts. */
export const CHUNK_BYTES = 5 * 2 ** 20;

/** In how many chunks `totalBytes` travel; at least one. */
export function chunkCount(totalBytes: number, chunkBytes: number): number {
  return Math.max(1, Math.ceil(totalBytes / chunkBytes));
}

/** The chunk `index` of `data`, as a view. */
export function chunkAt(data: Uint8Array, index: number, chunkBytes: number): Uint8Array {
  return data.subarray(index * chunkBytes, (index + 1) * chunkBytes);
}

/**
 * Assembles the chunks of one result. Chunks arrive in order. After a reconnect the earlier chunks are still here, and
 * the server continues at {@link ChunkAssembler.next}.
 */
export class ChunkAssembler {
  #buffer: Uint8Array | undefined;
  #length = 0;
  #next = 0;

  /** Number of the next chunk. */
  get next(): number {
    return this.#next;
  }

  /**
   * Takes a chunk; returns all bytes with the last one. A repeated chunk is ignored.
   * Throws {@link RayRequestError} if a chunk is missing or the sizes contradict each other.
   */
  add(chunk: GetResponse): Uint8Array | undefined {
    const data = chunk.data ?? new Uint8Array(0);
    const index = chunk.chunk_id ?? 0;
    const total = chunk.total_chunks ?? 0;
    if (index < this.#next) return undefined;
    if (index > this.#next) throw broken(`chunk ${this.#next} of ${total} is missing`);
    this.#next++;
    // One chunk is the usual case: no copy.
    if (total <= 1) return data;
    const totalBytes = Number(chunk.total_size ?? 0);
    this.#buffer ??= new Uint8Array(totalBytes);
    if (this.#length + data.length > this.#buffer.length)
      throw broken('the chunks are larger than announced');
    this.#buffer.set(data, this.#length);
    this.#length += data.length;
    if (this.#next < total) return undefined;
    if (this.#length !== this.#buffer.length) throw broken('the chunks are smaller than announced');
    return this.#buffer;
  }
}

function broken(reason: string): RayRequestError {
  return new RayRequestError(13, `a result arrived broken: ${reason}`);
}
