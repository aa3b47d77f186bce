import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { EchelonError } from '../../core/errors.ts';
import { STORE_LAYOUT } from '../redis/layouts.ts';
import type { Store } from '../store.ts';
import type { Archive, ListedArchive } from './archive.ts';

/** The id of the installation that an archive belongs to, stored in it. */
export interface ArchiveIdentity {
  /** Null if it has none yet, or if nothing is mounted there. Throws `store-unavailable` if it does not answer. */
  readId(): Promise<string | null>;
  /** Sets this id if it has none; returns its id. */
  claimId(id: string): Promise<string>;
}

/** The location of an archive for messages, and whether it may change while a process runs. */
interface ArchivePlace {
  /** The directory, or the bucket. */
  where: string;
  /** A directory may lose its mount; a bucket does not change. */
  mayVanish: boolean;
}

/** An archive that answers only while it is the bound one. */
export interface GuardedArchive extends Archive {
  /**
   * Checks that this archive and the store belong to the same installation, and binds both to it. The first process makes
   * the installation. Throws EchelonError `archive-mismatch` for another archive, none, or one whose objects belong to an unknown
   * installation, and `store-foreign` for an empty Redis beside an archive that is in use. Returns the id of the installation.
   */
  bind(store: Pick<Store, 'installation' | 'bind'>): Promise<string>;
}

/**
 * An archive that throws `store-unavailable` while something else is at its location (an empty mount point, a directory
 * that is not shared). It then reports no object as missing and accepts none, so that callers retry.
 */
export function guardArchive(
  archive: ListedArchive & ArchiveIdentity,
  { where, mayVanish }: ArchivePlace,
): GuardedArchive {
  let bound: string | null = null;

  async function check(): Promise<void> {
    if (bound === null || !mayVanish) return;
    const found = await archive.readId();
    if (found !== bound) throw new EchelonError('store-unavailable', inWords({ where, known: bound, found }));
  }

  return {
    async put(owner, digest, bytes) {
      await archive.put(owner, digest, bytes);
      // Checked after the write: bytes at another location must not count as stored.
      await check();
    },
    async get(owner, digest) {
      try {
        return await archive.get(owner, digest);
      } catch (error) {
        if (error instanceof EchelonError && error.code === 'not-found') await check();
        throw error;
      }
    },
    async remove(owner, except) {
      await check();
      await archive.remove(owner, except);
    },
    async bind(store) {
      const found = await archive.readId();
      const known = await store.installation();
      if (known === null && found !== null && !(await isStarting(store)))
        throw new EchelonError('store-foreign', emptyStore(where, found));
      if (known === null && found === null && (await isNameless(archive)))
        throw new EchelonError('archive-mismatch', nameless(where));
      const id = await store.bind(known ?? (await archive.claimId(found ?? randomUUID())));
      const now = known === null ? await archive.readId() : found;
      if (now !== id) throw new EchelonError('archive-mismatch', inWords({ where, known: id, found: now }));
      bound = id;
      return id;
    },
  };
}

/** Whether there are objects of an installation that nothing names. */
async function isNameless(archive: ListedArchive & ArchiveIdentity): Promise<boolean> {
  for await (const _object of archive.list()) return (await archive.readId()) === null;
  return false;
}

function nameless(where: string): string {
  return `The archive at ${where} has objects, but no file "archive-id" that names their installation: a restore may have been interrupted, or the file was lost. Repeat the restore, write the id of the installation into that file, or name an empty archive.`;
}

/** Another process, which makes the installation now, has claimed the archive and is about to claim the Redis. */
async function isStarting(store: Pick<Store, 'installation'>): Promise<boolean> {
  for (let tries = 0; tries < START_TRIES; tries++) {
    if ((await store.installation()) !== null) return true;
    await delay(START_WAIT_MS);
  }
  return false;
}

const START_TRIES = 30;
const START_WAIT_MS = 100;

function emptyStore(where: string, found: string): string {
  return `This Redis is empty, but the archive at ${where} belongs to installation ${found}: the volume of Redis may be lost, or REDIS_URL names another server. Restore the data of Redis. To start over without it, name an empty archive. To use this archive with an empty Redis, run: redis-cli MSET '{echelon}:archive:id' ${found} '{echelon}:layout' ${STORE_LAYOUT}`;
}

function inWords({ where, known, found }: { where: string; known: string; found: string | null }): string {
  const what =
    found === null
      ? `has no file "archive-id": it is empty, not mounted, or not shared with the other processes`
      : `is another archive (${found})`;
  return `The archive at ${where} ${what}. This Redis belongs to archive ${known}. Mount or name that one; if this is a copy of it, write ${known} into its file "archive-id".`;
}
