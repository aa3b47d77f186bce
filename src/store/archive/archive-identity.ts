import { randomUUID } from 'node:crypto';
import { EchelonError } from '../../core/errors.ts';
import type { Store } from '../store.ts';
import type { Archive } from './archive.ts';

/** The name of an archive, kept in it, by which processes know that they use the same one. */
export interface ArchiveIdentity {
  /** Null: it has none yet, or nothing is mounted there. Throws `store-unavailable` if it does not answer. */
  readId(): Promise<string | null>;
  /** Gives it this id if it has none; returns the one that it has then. */
  claimId(id: string): Promise<string>;
}

/** What an archive is called in messages, and whether it may be replaced by another one while a process runs. */
export interface ArchivePlace {
  /** The directory, or the bucket. */
  where: string;
  /** A directory may lose its mount; a bucket stays what it is. */
  mayVanish: boolean;
}

/** An archive that answers only as long as it is the one that it was bound to. */
export interface GuardedArchive extends Archive {
  /**
   * Makes sure that this archive is the one that belongs to the store, and binds to it; the first process of all makes
   * them known to each other. Throws EchelonError `archive-mismatch` if it is another one, or none.
   */
  bind(store: Pick<Store, 'archiveId' | 'claimArchiveId'>): Promise<void>;
}

/**
 * An archive that says of nothing that it is missing, and takes nothing, while something else stands in its place (an empty
 * mount point, a directory that is not shared): it is `store-unavailable` then, and what needs it is tried again.
 */
export function guardArchive(
  archive: Archive & ArchiveIdentity,
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
      // Behind it: what was put beside the archive is no answer.
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
      const known = await store.archiveId();
      const found = await archive.readId();
      const id = known ?? (await store.claimArchiveId(await archive.claimId(found ?? randomUUID())));
      const now = known === null ? await archive.readId() : found;
      if (now !== id) throw new EchelonError('archive-mismatch', inWords({ where, known: id, found: now }));
      bound = id;
    },
  };
}

function inWords({ where, known, found }: { where: string; known: string; found: string | null }): string {
  const what =
    found === null
      ? `has no file "archive-id": it is empty, not mounted, or not shared with the other processes`
      : `is another archive (${found})`;
  return `The archive at ${where} ${what}. This Redis belongs to archive ${known}. Mount or name that one; if this is a copy of it, write ${known} into its file "archive-id".`;
}
