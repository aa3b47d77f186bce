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
const PLACE = Buffer.byteLength(tmpdir()) <= 60 ? tmpdir() : '/tmp';
const SOCKET = 's';
/** A folder has this ending until its process listens. */
const BEGUN = '.new';
/** A process begins to listen within this time, or never. */
const BEGUN_MS = 3_600_000;

let made: Promise<string> | undefined;

/** The folder of this process. It is deleted when the process exits. */
export function ownFolder(): Promise<string> {
  made ??= makeFolder();
  return made;
}

async function makeFolder(): Promise<string> {
  const begun = `${await mkdtemp(join(PLACE, OF_MACHINE))}${BEGUN}`;
  const folder = begun.slice(0, -BEGUN.length);
  await rename(folder, begun);
  const server = createServer((socket) => socket.destroy()).unref();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(join(begun, SOCKET), resolve);
  await promise;
  await rename(begun, folder);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Deletes the folders that processes of this user and machine left when they were killed. */
export async function removeLeftFolders(): Promise<void> {
  const own = await ownFolder();
  for (const name of await readdir(PLACE)) {
    const folder = join(PLACE, name);
    if (!name.startsWith(OF_MACHINE) || folder === own) continue;
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
