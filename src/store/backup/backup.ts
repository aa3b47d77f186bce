import pMap from 'p-map';
import { EchelonError } from '../../core/errors.ts';
import type { ListedArchive, ObjectName } from '../archive/archive.ts';
import { digestOf } from '../archive/archive-keys.ts';
import { type Backup, type Listed, listBackups, MANIFESTS, type Manifest, putManifest } from './manifests.ts';
import { duringRun, isRun } from './runs.ts';
import type { Snapshot } from './snapshot.ts';

/*
 * A place of backups is an archive. Its objects are those of the installation's archive, the pieces of each snapshot of
 * Redis, and one manifest for each backup, which is written last: a backup exists if its manifest does. The name of a
 * backup is the digest of its manifest, and the manifest has the digests of all the rest.
 */

/** Owner of the pieces of snapshots. */
const PIECES = 'backup-snapshots';
const PIECE_BYTES = 16 * 1024 * 1024;
/** Objects that are copied at the same time. After an error no further ones are taken. */
const AT_ONCE = { concurrency: 8 } as const;

interface Sources {
  archive: ListedArchive;
  snapshot: () => Promise<Snapshot>;
  installation: string;
  version: string;
  now: () => number;
  /** Has nothing deleted from the archive from its first call on; throws if that did not hold since. */
  pause: () => Promise<void>;
}

/**
 * Writes a backup of a running installation to `place`. The snapshot comes first and nothing is deleted from the archive
 * until the end, so that the archive has every object that the snapshot names. Objects that the place has are not copied
 * again. Throws EchelonError `store-unavailable` if Redis, the archive or the place does not answer.
 */
export async function createBackup(place: ListedArchive, sources: Sources): Promise<Backup> {
  return await duringRun(place, { kind: 'create', now: sources.now }, (alive) =>
    write(place, sources, alive),
  );
}

async function write(place: ListedArchive, sources: Sources, alive: () => void): Promise<Backup> {
  const { archive, installation, version, now, pause } = sources;
  await pause();
  const createdAt = now();
  const { position, bytes } = await sources.snapshot();
  const known = new Set<string>();
  for await (const name of place.list()) known.add(pathOf(name));
  const { pieces, snapshotBytes } = await putSnapshot(place, bytes);
  const objects: Manifest['objects'] = {};
  const copy = async (name: ObjectName) => {
    if (!known.has(pathOf(name)))
      await place.put(name.owner, name.digest, await archive.get(name.owner, name.digest));
    objects[name.owner] ??= [];
    objects[name.owner]!.push(name.digest);
  };
  await forEach(archive.list(), copy);
  await pause();
  const named = { createdAt, version, installation, position, snapshotBytes, pieces, objects };
  const backup = await putManifest(place, named);
  // Otherwise a prune may have deleted objects that this backup names.
  alive();
  return backup;
}

async function putSnapshot(place: ListedArchive, bytes: AsyncIterable<Buffer>) {
  const pieces: string[] = [];
  let snapshotBytes = 0;
  let held: Buffer[] = [];
  let heldBytes = 0;
  const put = async () => {
    const piece = Buffer.concat(held);
    pieces.push(digestOf(piece));
    await place.put(PIECES, pieces.at(-1)!, piece);
    held = [];
    heldBytes = 0;
  };
  for await (const part of bytes) {
    held.push(part);
    heldBytes += part.length;
    snapshotBytes += part.length;
    if (heldBytes >= PIECE_BYTES) await put();
  }
  if (heldBytes > 0) await put();
  return { pieces, snapshotBytes };
}

/** The names of the objects that a backup lacks, or whose bytes do not have their digest. */
export async function verifyBackup(place: ListedArchive, backup: Backup): Promise<string[]> {
  const faults: string[] = [];
  const read = async ({ owner, digest }: ObjectName) => {
    try {
      await place.get(owner, digest);
    } catch (error) {
      if (!(error instanceof EchelonError) || error.code !== 'not-found') throw error;
      faults.push(`${owner}/${digest}`);
    }
  };
  await forEach(contentsOf(backup), read);
  return faults.sort();
}

/**
 * Deletes all but the newest `keep` backups of each installation, then the objects that no other backup names. Deletes nothing
 * unless each installation that loses backups retains one whose bytes all have their digests. May be repeated after an
 * interruption. A manifest that is no backup is deleted like an old one. Throws EchelonError `not-verifiable` if there is none,
 * and `record-too-new` for a backup of a later version, whose objects are not known.
 */
export async function pruneBackups(
  place: ListedArchive,
  { keep, now }: { keep: number; now: () => number },
): Promise<{ kept: Backup[]; deleted: Backup[]; unreadable: Listed['unreadable']; objects: number }> {
  return await duringRun(place, { kind: 'prune', now }, async (alive) => {
    const kept: Backup[] = [];
    const deleted: Backup[] = [];
    const { backups: found, unreadable } = await listBackups(place);
    const later = unreadable.find((one) => one.later);
    if (later !== undefined)
      throw new EchelonError(
        'record-too-new',
        `Nothing is deleted: a later version of Echelon wrote the backup ${later.name}. Prune with that version.`,
      );
    const ofEach = Map.groupBy(found, ({ installation }) => installation);
    for (const backups of ofEach.values()) {
      kept.push(...backups.slice(0, keep));
      deleted.push(...backups.slice(keep));
      if (backups.length > keep) await requireWhole(place, backups.slice(0, keep));
    }
    // Without a backup this may be no place of backups.
    const objects = kept.length === 0 ? 0 : await deleteOthers(place, kept, alive);
    return { kept, deleted, unreadable, objects };
  });
}

async function requireWhole(place: ListedArchive, backups: readonly Backup[]): Promise<void> {
  for (const backup of backups) if ((await verifyBackup(place, backup)).length === 0) return;
  throw new EchelonError(
    'not-verifiable',
    `Nothing is deleted: none of the ${backups.length} newest backups of installation ${backups[0]!.installation} is whole. Make another backup first.`,
  );
}

/** Deletes what backups do not name, manifests first: an interruption leaves no part of a backup under its name. */
async function deleteOthers(
  place: ListedArchive,
  kept: readonly Backup[],
  alive: () => void,
): Promise<number> {
  const needed = new Map<string, Set<string>>([[MANIFESTS, new Set(kept.map(({ name }) => name))]]);
  for (const backup of kept)
    for (const { owner, digest } of contentsOf(backup))
      needed.set(owner, (needed.get(owner) ?? new Set()).add(digest));
  const stale = new Map<string, number>([[MANIFESTS, 0]]);
  for await (const { owner, digest } of place.list())
    if (!isRun(owner) && !needed.get(owner)?.has(digest)) stale.set(owner, (stale.get(owner) ?? 0) + 1);
  for (const owner of stale.keys()) {
    alive();
    await place.remove(owner, needed.get(owner));
  }
  return [...stale.values()].reduce((sum, count) => sum + count, 0);
}

function* contentsOf({ pieces, ...backup }: Backup): Generator<ObjectName> {
  for (const digest of pieces) yield { owner: PIECES, digest };
  yield* objectsOf(backup);
}

function* objectsOf({ objects }: Pick<Backup, 'objects'>): Generator<ObjectName> {
  for (const [owner, digests] of Object.entries(objects))
    for (const digest of digests) yield { owner, digest };
}

/** Copies the objects of a backup into an archive. May be repeated. Throws EchelonError `not-found` for a damaged one. */
export async function restoreObjects(
  place: ListedArchive,
  backup: Backup,
  archive: ListedArchive,
): Promise<void> {
  const copy = async ({ owner, digest }: ObjectName) =>
    await archive.put(owner, digest, await place.get(owner, digest));
  await forEach(objectsOf(backup), copy);
}

/** Acts on some items at a time. After the first error no further ones are taken, and none is running when it is thrown. */
async function forEach<T>(
  items: AsyncIterable<T> | Iterable<T>,
  act: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const followed = async (item: T): Promise<void> => {
    const one = act(item);
    running.add(one);
    await one;
    running.delete(one);
  };
  try {
    await pMap(items, followed, AT_ONCE);
  } finally {
    await Promise.allSettled(running);
  }
}

/** The snapshot of a backup. Throws EchelonError `not-found` for a damaged piece, or if the pieces are not the whole of it. */
export async function* snapshotOf(
  place: ListedArchive,
  { name, pieces, snapshotBytes }: Backup,
): AsyncGenerator<Uint8Array> {
  let read = 0;
  for (const digest of pieces) {
    const piece = await place.get(PIECES, digest);
    read += piece.length;
    yield piece;
  }
  if (read === snapshotBytes) return;
  throw new EchelonError(
    'not-found',
    `Backup ${name} has ${read} bytes of Redis instead of ${snapshotBytes}.`,
  );
}

const pathOf = ({ owner, digest }: ObjectName): string => `${owner}/${digest}`;
