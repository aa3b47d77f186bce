import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EchelonError } from '../../core/errors.ts';
import type { ListedArchive, ObjectName } from './archive.ts';
import type { ArchiveIdentity } from './archive-identity.ts';
import { archiveUnavailable, checkBytes, checkOwner, checkPlace, intact, isDigest } from './archive-keys.ts';

/**
 * An archive in a directory, `<root>/x/cd/<owner>/<digest>` (cd: the owner's last two characters): made durable under
 * another name first (file, then the directories that name it) and renamed, so that a name never stands for less than
 * its bytes. Readers check the digest. Several processes may share a root.
 */
export function createDirectoryArchive(root: string): ListedArchive & ArchiveIdentity {
  const folderOf = (owner: string) => join(root, 'x', owner.slice(-2), owner);

  return {
    ...createIdentity(root),

    async put(owner, digest, bytes) {
      checkPlace(owner, digest);
      checkBytes(digest, bytes);
      await putDurably({ root, folder: folderOf(owner) }, digest, bytes);
    },

    async get(owner, digest) {
      checkPlace(owner, digest);
      const bytes = await readOrNothing(join(folderOf(owner), digest));
      if (bytes === undefined) throw new EchelonError('not-found', `The archive does not have ${digest}`);
      return intact(digest, bytes);
    },

    async remove(owner, except = new Set()) {
      checkOwner(owner);
      const folder = folderOf(owner);
      try {
        if (except.size === 0) return await rm(folder, { recursive: true, force: true });
        for (const name of await namesIn(folder)) {
          if (!except.has(name)) await rm(join(folder, name), { force: true });
        }
      } catch (error) {
        throw archiveUnavailable(error);
      }
    },

    list: (owner) => listed(join(root, 'x'), owner),
  };
}

/** The objects of a folder's shards; what is still being written has another name. */
async function* listed(folder: string, owner: string | undefined): AsyncGenerator<ObjectName> {
  try {
    for (const shard of owner === undefined ? await namesIn(folder) : [owner.slice(-2)])
      for (const one of owner === undefined ? await namesIn(join(folder, shard)) : [owner])
        for (const digest of await namesIn(join(folder, shard, one)))
          if (isDigest(digest)) yield { owner: one, digest };
  } catch (error) {
    throw archiveUnavailable(error);
  }
}

function createIdentity(root: string): ArchiveIdentity {
  const path = join(root, 'archive-id');

  async function readId(): Promise<string | null> {
    const bytes = await readOrNothing(path);
    return bytes === undefined ? null : Buffer.from(bytes).toString().trim() || null;
  }

  return {
    readId,

    async claimId(id) {
      const temporary = `${path}.${randomUUID()}.tmp`;
      try {
        await writeDurably(temporary, Buffer.from(`${id}\n`));
        // Whole or not at all, and never over another one; not every network file system has links.
        await link(temporary, path).catch(async (error: NodeJS.ErrnoException) => {
          if (error.code !== 'EEXIST' && (await readId()) === null) await rename(temporary, path);
        });
        await syncDirectory(root);
      } catch (error) {
        throw archiveUnavailable(error);
      } finally {
        await rm(temporary, { force: true }).catch(() => {});
      }
      return (await readId()) ?? id;
    },
  };
}

async function putDurably(
  { root, folder }: { root: string; folder: string },
  digest: string,
  bytes: Uint8Array,
): Promise<void> {
  const path = join(folder, digest);
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const made = await mkdir(folder, { recursive: true, mode: 0o700 });
    if (!(await hasLength(path, bytes.byteLength))) {
      await writeDurably(temporary, bytes);
      await rename(temporary, path);
    }
    // Also if another process made the file or the directories: it may not have synced them yet.
    const shard = dirname(folder);
    for (const directory of [folder, shard, dirname(shard), root]) await syncDirectory(directory);
    if (made !== undefined) await syncDirectory(dirname(made));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw archiveUnavailable(error);
  }
}

async function readOrNothing(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw archiveUnavailable(error);
    return undefined;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
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
