import { mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { EchelonError } from '../../core/errors.ts';
import { ownFolder } from './own-folder.ts';

/** The file that a request brings. */
export interface Upload {
  readonly body: Readable;
  /** Its name on disk: no path. */
  readonly name: string;
  /** What its Content-Length says; 0 if it has none. */
  readonly length: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/**
 * Writes the body to a file of its own, calls `use` with the path, and deletes the file. Memory does not grow with the
 * body. Throws EchelonError `body-too-large` for a longer one; the rest of it is not read.
 */
export async function withUpload<T>(upload: Upload, use: (path: string) => Promise<T>): Promise<T> {
  if (upload.length > upload.maxBytes) throw tooLarge(upload);
  const folder = await mkdtemp(join(await ownFolder(), 'upload-'));
  try {
    const path = join(folder, upload.name);
    await write(upload, path);
    return await use(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function write(upload: Upload, path: string): Promise<void> {
  const { body, maxBytes, signal } = upload;
  await using file = await open(path, 'wx', 0o600);
  let bytes = 0;
  // A body that is destroyed would take the connection with it, and the answer.
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    signal.throwIfAborted();
    bytes += (chunk as Buffer).length;
    if (bytes > maxBytes) throw tooLarge(upload);
    await file.writeFile(chunk);
  }
}

function tooLarge({ maxBytes }: Upload): EchelonError {
  return new EchelonError(
    'body-too-large',
    `The file is larger than ${maxBytes} bytes. Verify it with \`echelon verify\`.`,
  );
}
