import { randomBytes } from 'node:crypto';
import { lstat, mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { EchelonError } from '../../core/errors.ts';

/** Uploads of this machine. A container that starts again has the same name and the same numbers of processes. */
const OF_MACHINE = `echelon-upload-${hostname().replaceAll(/[^\w.-]/g, '')}`;
/** Uploads of this process, whose number an earlier process may have had. */
const OWN = `${OF_MACHINE}-${process.pid}-${randomBytes(6).toString('hex')}-`;

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
  const folder = await mkdtemp(join(tmpdir(), OWN));
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

/** Deletes the uploads that processes of this user and machine left when they were killed. */
export async function removeLeftUploads(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid =
      name.startsWith(`${OF_MACHINE}-`) &&
      /^-(\d+)-[0-9a-f]{12}-\w+$/.exec(name.slice(OF_MACHINE.length))?.[1];
    if (!pid || name.startsWith(OWN) || (Number(pid) !== process.pid && isAlive(Number(pid)))) continue;
    const folder = join(tmpdir(), name);
    const found = await lstat(folder).catch(() => undefined);
    if (found?.isDirectory() && found.uid === process.getuid?.())
      await rm(folder, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
