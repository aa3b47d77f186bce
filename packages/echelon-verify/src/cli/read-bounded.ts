import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { BatchFormatError } from '../format/format-error.ts';
import { reading } from '../format/reading.ts';

/** Limits of a read. */
export interface ReadLimits {
  readonly maxBytes: number;
  /** How long a pipe may stay without data. */
  readonly idleMs: number;
}

const LIMITS: ReadLimits = { maxBytes: 2 ** 30, idleMs: 5_000 };
const CHUNK_BYTES = 1 << 20;
const POLL_MS = 10;

/**
 * Reads a file or a pipe in bounded time and memory. Throws a BatchFormatError for a directory, a device, a file above the
 * limit, and a pipe without data; a system error if the path cannot be opened.
 */
export async function readBounded(path: string, limits: ReadLimits = LIMITS): Promise<Uint8Array> {
  reading(path);
  // A blocking open of a pipe without a writer never returns and cannot be aborted.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (stat.isFIFO()) return await readPipe(path, file, limits);
    if (!stat.isFile()) {
      throw fault(path, 'a file or a pipe', stat.isDirectory() ? 'a directory' : 'a device');
    }
    if (stat.size > limits.maxBytes) throw tooLarge(path, limits, `${stat.size}`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

async function readPipe(path: string, file: FileHandle, limits: ReadLimits): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  let lastDataAt = performance.now();
  for (;;) {
    const chunk = new Uint8Array(CHUNK_BYTES);
    const bytesRead = await readNow(file, chunk);
    if (bytesRead === 0 && total > 0) return Buffer.concat(chunks);
    if (bytesRead !== undefined && bytesRead > 0) {
      total += bytesRead;
      if (total > limits.maxBytes) throw tooLarge(path, limits, 'more');
      chunks.push(chunk.subarray(0, bytesRead));
      lastDataAt = performance.now();
    } else if (performance.now() - lastDataAt > limits.idleMs) {
      throw fault(path, `data from the pipe within ${limits.idleMs / 1000} s`, 'none');
    } else await delay(POLL_MS);
  }
}

/** The number of bytes read; 0 if no process has the pipe open for writing, undefined if its writer has sent no data. */
async function readNow(file: FileHandle, into: Uint8Array): Promise<number | undefined> {
  try {
    return (await file.read(into)).bytesRead;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}

function fault(file: string, expected: string, found: string): BatchFormatError {
  return new BatchFormatError({ code: 'unreadable', file, expected, found });
}

function tooLarge(file: string, { maxBytes }: ReadLimits, found: string): BatchFormatError {
  return new BatchFormatError({ code: 'too-large', file, expected: `at most ${maxBytes} bytes`, found });
}
