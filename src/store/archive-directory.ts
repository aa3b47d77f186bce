import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EchelonError } from '../core/errors.ts';
import type { Archive } from './store.ts';

/**
 * An archive in a directory, `<root>/ab/cd/<digest>`: made durable under another name first (file, then the
 * directories that name it) and renamed, so that a name never stands for less than its bytes. Readers check the
 * digest. Several processes may share a root.
 */
export function createDirectoryArchive(root: string): Archive {
  const pathOf = (digest: string) => join(root, digest.slice(0, 2), digest.slice(2, 4), digest);

  return {
    async put(digest, bytes) {
      checkDigest(digest);
      if (digestOf(bytes) !== digest) {
        throw new EchelonError('internal', `The bytes for ${digest} do not have that digest`);
      }
      const path = pathOf(digest);
      const temporary = `${path}.${randomUUID()}.tmp`;
      try {
        const made = await mkdir(dirname(path), { recursive: true });
        if (!(await hasLength(path, bytes.byteLength))) {
          await writeDurably(temporary, bytes);
          await rename(temporary, path);
        }
        // Also where another process made the file or the directories: it may not have come this far yet.
        const shard = dirname(path);
        for (const directory of [shard, dirname(shard), root]) await syncDirectory(directory);
        if (made !== undefined) await syncDirectory(dirname(made));
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => {});
        throw archiveUnavailable(error);
      }
    },

    async get(digest) {
      checkDigest(digest);
      let bytes: Uint8Array;
      try {
        bytes = await readFile(pathOf(digest));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw archiveUnavailable(error);
        throw new EchelonError('not-found', `The archive does not have ${digest}`, { cause: error });
      }
      if (digestOf(bytes) !== digest) {
        throw new EchelonError('not-found', `What the archive has for ${digest} is damaged`);
      }
      return bytes;
    },
  };
}

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** A file cut short, by a fault of the disk, is written anew. */
async function hasLength(path: string, length: number): Promise<boolean> {
  try {
    return (await stat(path)).size === length;
  } catch {
    return false;
  }
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A digest names a file: nothing else may. */
function checkDigest(digest: string): void {
  if (!/^[0-9a-f]{64}$/.test(digest)) throw new EchelonError('not-found', 'A digest is 64 hex digits');
}

function archiveUnavailable(error: unknown): EchelonError {
  const message = error instanceof Error ? error.message : String(error);
  return new EchelonError('store-unavailable', `The archive cannot be used: ${message}`, { cause: error });
}
