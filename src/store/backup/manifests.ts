import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { EchelonError } from '../../core/errors.ts';
import type { ListedArchive } from '../archive/archive.ts';
import { checkPlace, digestOf, isDigest } from '../archive/archive-keys.ts';

/*
 * The manifest of a backup names everything that belongs to it. It comes from a place that others may write to, so a file there is
 * a manifest only if it has exactly this form.
 */

/** Owner of the manifests, in a place of backups. */
export const MANIFESTS = 'backups';
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

/** The backups of a place, and the manifests there that are none. */
export interface Listed {
  /** The newest first. */
  backups: Backup[];
  unreadable: Unreadable[];
}

/** A manifest that cannot be used. `later`: a later version of Echelon wrote it. */
export interface Unreadable {
  name: string;
  reason: string;
  later?: true;
}

/** Writes the manifest of a backup, and with it the backup. */
export async function putManifest(place: ListedArchive, manifest: Omit<Manifest, 'format'>): Promise<Backup> {
  const whole: Manifest = { format: FORMAT, ...manifest };
  const packed = zstdCompressSync(JSON.stringify(whole));
  const name = digestOf(packed);
  await place.put(MANIFESTS, name, packed);
  return { ...whole, name };
}

/** Reads all manifests of a place, one after the other. */
export async function listBackups(place: ListedArchive): Promise<Listed> {
  const backups: Backup[] = [];
  const unreadable: Unreadable[] = [];
  for await (const { digest: name } of place.list(MANIFESTS)) {
    const found = await readManifest(place, name);
    if ('reason' in found) unreadable.push(found);
    else backups.push(found);
  }
  return { backups: backups.sort((a, b) => b.createdAt - a.createdAt), unreadable };
}

async function readManifest(place: ListedArchive, name: string): Promise<Backup | Unreadable> {
  let manifest: unknown;
  try {
    manifest = JSON.parse(unpacked(await place.get(MANIFESTS, name)));
  } catch (error) {
    // A place that does not answer is no fault of the manifest.
    if (error instanceof EchelonError && error.code !== 'not-found') throw error;
    return { name, reason: 'it is damaged' };
  }
  const { format } = (manifest ?? {}) as Partial<Manifest>;
  if (typeof format === 'number' && format > FORMAT)
    return { name, reason: 'a later version of Echelon wrote it', later: true };
  return isManifest(manifest) ? { ...manifest, name } : { name, reason: 'it has not the form of a manifest' };
}

/** Digests do not compress below a half: more than this was not written by Echelon, and would only fill the memory. */
const MAX_RATIO = 8;
const SMALL_BYTES = 64 * 1024;

function unpacked(packed: Uint8Array): string {
  const maxOutputLength = packed.length * MAX_RATIO + SMALL_BYTES;
  return zstdDecompressSync(packed, { maxOutputLength }).toString();
}

/** What is printed, and what names objects, has the form that Echelon gives it. */
function isManifest(value: unknown): value is Manifest {
  const { format, createdAt, version, installation, position, snapshotBytes, pieces, objects } = (value ??
    {}) as Partial<Record<keyof Manifest, unknown>>;
  const isText = (text: unknown) => typeof text === 'string' && /^[\w.+ -]{1,200}$/.test(text);
  const isCount = (count: unknown) => Number.isSafeInteger(count) && (count as number) > 0;
  return (
    format === FORMAT &&
    isCount(createdAt) &&
    (createdAt as number) <= MAX_TIME &&
    [version, installation, position].every(isText) &&
    isCount(snapshotBytes) &&
    isListOfDigests(pieces) &&
    pieces.length > 0 &&
    areObjects(objects)
  );
}

/** The last moment that `Date` can show. */
const MAX_TIME = 8.64e15;

function isListOfDigests(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string' && isDigest(one));
}

function areObjects(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(([owner, digests]) => isOwner(owner) && isListOfDigests(digests));
}

function isOwner(owner: string): boolean {
  try {
    checkPlace(owner, '0'.repeat(64));
    return true;
  } catch {
    return false;
  }
}
