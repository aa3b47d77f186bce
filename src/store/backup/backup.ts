import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { EchelonError } from '../../core/errors.ts';
import type { ListedArchive, ObjectName } from '../archive/archive.ts';
import { digestOf } from '../archive/archive-keys.ts';
import { duringRun, isRun } from './runs.ts';
import type { Snapshot } from './snapshot.ts';

/*
 * A place of backups is an archive. Its objects are those of the installation's archive, the pieces of each snapshot of
 * Redis, and one manifest for each backup, which is written last: a backup exists if its manifest does. The name of a
 * backup is the digest of its manifest, and the manifest has the digests of all the rest.
 */

/** Owner of the manifests, in a place of backups. */
const MANIFESTS = 'backups';
/** Owner of the pieces of snapshots. */
const PIECES = 'backup-snapshots';
const PIECE_BYTES = 16 * 1024 * 1024;
/** Objects that are copied at the same time. */
const AT_ONCE = 8;
const FORMAT = 1;

/** What a backup consists of. */
export interface Manifest {
  format: typeof FORMAT;
  /** Time of the snapshot (ms), by the clock of this machine. */
  createdAt: number;
  version: string;
  installation: string;
  /** Position of the snapshot in the history of the Redis server. */
  position: string;
  snapshotBytes: number;
  /** Digests of the snapshot's pieces, in their order. */
  pieces: string[];
  /** Digests of the archive's objects by owner. */
  objects: Record<string, string[]>;
}

/** A backup with its name. */
export interface Backup extends Manifest {
  name: string;
}

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
  await forEach(archive.list(), async (name) => {
    if (!known.has(pathOf(name)))
      await place.put(name.owner, name.digest, await archive.get(name.owner, name.digest));
    objects[name.owner] ??= [];
    objects[name.owner]!.push(name.digest);
  });
  await pause();
  const manifest = {
    format: FORMAT,
    createdAt,
    version,
    installation,
    position,
    snapshotBytes,
    pieces,
    objects,
  } as const;
  const packed = zstdCompressSync(JSON.stringify(manifest));
  const name = digestOf(packed);
  await place.put(MANIFESTS, name, packed);
  // Otherwise a prune may have deleted objects that this backup names.
  alive();
  return { ...manifest, name };
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

/** The backups of a place, the newest first. Throws EchelonError `record-too-new` for one of a later version. */
export async function listBackups(place: ListedArchive): Promise<Backup[]> {
  const found: Backup[] = [];
  for await (const { digest } of place.list(MANIFESTS)) {
    const manifest = JSON.parse(
      zstdDecompressSync(await place.get(MANIFESTS, digest)).toString(),
    ) as Manifest;
    if (manifest.format !== FORMAT)
      throw new EchelonError('record-too-new', `Echelon ${manifest.version} wrote the backup ${digest}`);
    found.push({ ...manifest, name: digest });
  }
  return found.sort((a, b) => b.createdAt - a.createdAt);
}

/** The names of the objects that a backup lacks, or whose bytes do not have their digest. */
export async function verifyBackup(place: ListedArchive, backup: Backup): Promise<string[]> {
  const faults: string[] = [];
  await forEach(contentsOf(backup), async ({ owner, digest }) => {
    try {
      await place.get(owner, digest);
    } catch (error) {
      if (!(error instanceof EchelonError) || error.code !== 'not-found') throw error;
      faults.push(`${owner}/${digest}`);
    }
  });
  return faults.sort();
}

/**
 * Deletes all but the newest `keep` backups of each installation, then the objects that no other backup names. Deletes nothing
 * unless each installation that loses backups retains one whose bytes all have their digests. May be repeated after an
 * interruption. Throws EchelonError `not-verifiable` if there is none.
 */
export async function pruneBackups(
  place: ListedArchive,
  { keep, now }: { keep: number; now: () => number },
): Promise<{ kept: Backup[]; deleted: Backup[]; objects: number }> {
  return await duringRun(place, { kind: 'prune', now }, async (alive) => {
    const kept: Backup[] = [];
    const deleted: Backup[] = [];
    const ofEach = Map.groupBy(await listBackups(place), ({ installation }) => installation);
    for (const backups of ofEach.values()) {
      kept.push(...backups.slice(0, keep));
      deleted.push(...backups.slice(keep));
      if (backups.length > keep) await requireWhole(place, backups.slice(0, keep));
    }
    // Without a backup this may be no place of backups.
    const objects = kept.length === 0 ? 0 : await deleteOthers(place, kept, alive);
    return { kept, deleted, objects };
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
  await forEach(objectsOf(backup), async ({ owner, digest }) => {
    await archive.put(owner, digest, await place.get(owner, digest));
  });
}

/** The snapshot of a backup. Throws EchelonError `not-found` for a damaged piece. */
export async function* snapshotOf(place: ListedArchive, { pieces }: Backup): AsyncGenerator<Uint8Array> {
  for (const digest of pieces) yield await place.get(PIECES, digest);
}

const pathOf = ({ owner, digest }: ObjectName): string => `${owner}/${digest}`;

/** Acts on {@link AT_ONCE} items at the same time. After an error no further ones are taken, and none is left running. */
async function forEach<T>(
  items: AsyncIterable<T> | Iterable<T>,
  act: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  try {
    for await (const item of items) {
      const one = act(item).finally(() => running.delete(one));
      running.add(one);
      one.catch(() => {});
      if (running.size >= AT_ONCE) await Promise.race(running);
    }
    await Promise.all(running);
  } finally {
    await Promise.allSettled(running);
  }
}
