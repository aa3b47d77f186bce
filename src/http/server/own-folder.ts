import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { lstat, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

/*
 * A process has one folder for its temporary files, with a socket in it on which the process listens. The kernel closes the socket
 * with the process, so that the socket says whether the folder is in use. A process number does not: containers that share
 * this directory and their host name have the same numbers.
 */

const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
const OF_MACHINE = `echelon-files-${HOST}-`;
/** The path of a socket has at most 107 bytes. */
const place = (): string => (Buffer.byteLength(tmpdir()) <= 60 ? tmpdir() : '/tmp');
const SOCKET = 's';
/** A folder has this ending until its process listens. */
const BEGUN = '.new';
/** A process begins to listen within this time, or never. */
const BEGUN_MS = 3_600_000;

interface OwnFolder {
  readonly path: string;
  release(): void;
}

let made: Promise<OwnFolder> | undefined;

/** The folder of this process. It is deleted when it is released, or when the process exits. */
export async function ownFolder(): Promise<string> {
  made ??= makeFolder();
  return (await made).path;
}

/** Deletes the folder of this process; the next {@link ownFolder} makes another one. */
export async function releaseOwnFolder(): Promise<void> {
  const folder = made;
  made = undefined;
  (await folder)?.release();
}

async function makeFolder(): Promise<OwnFolder> {
  const begun = `${await mkdtemp(join(place(), OF_MACHINE))}${BEGUN}`;
  const path = begun.slice(0, -BEGUN.length);
  await rename(path, begun);
  const server = createServer((socket) => socket.destroy()).unref();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(join(begun, SOCKET), resolve);
  await promise;
  await rename(begun, path);
  const release = (): void => {
    process.off('exit', release);
    server.close();
    rmSync(path, { recursive: true, force: true });
  };
  process.once('exit', release);
  return { path, release };
}

/** Deletes the folders that processes of this user and machine left when they were killed. */
export async function removeLeftFolders(): Promise<void> {
  for (const name of await readdir(place())) {
    const folder = join(place(), name);
    if (!name.startsWith(OF_MACHINE)) continue;
    const found = await lstat(folder).catch(() => undefined);
    if (!found?.isDirectory() || found.uid !== process.getuid?.()) continue;
    const isLeft = name.endsWith(BEGUN)
      ? Date.now() - found.mtimeMs > BEGUN_MS
      : !(await isListened(join(folder, SOCKET)));
    if (isLeft) await rm(folder, { recursive: true, force: true });
  }
}

/** False only if certainly no process listens. */
async function isListened(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path);
  socket.once('connect', () => resolve(true));
  socket.once('error', ({ code }: NodeJS.ErrnoException) =>
    resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'),
  );
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}
