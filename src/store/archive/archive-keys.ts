import { createHash } from 'node:crypto';
import { EchelonError } from '../../core/errors.ts';

/** SHA-256 of bytes, in hex: their name in an archive. */
export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Throws unless both are valid names, so that neither can leave its directory or prefix. */
export function checkPlace(owner: string, digest: string): void {
  checkOwner(owner);
  if (!isDigest(digest)) throw new EchelonError('not-found', 'A digest has 64 hexadecimal digits');
}

/** Whether a name is one of {@link digestOf}. */
export function isDigest(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}

/** The part of {@link checkPlace} that concerns the owner. */
export function checkOwner(owner: string): void {
  if (!/^[a-z][a-z0-9-]{2,63}$/.test(owner)) {
    throw new EchelonError('not-found', 'An owner in the archive is named in lower-case letters and digits');
  }
}

/** Throws unless the bytes have that digest. */
export function checkBytes(digest: string, bytes: Uint8Array): void {
  if (digestOf(bytes) === digest) return;
  throw new EchelonError('internal', `The bytes for ${digest} do not have that digest`);
}

/** The bytes if they have that digest; otherwise throws `not-found`. */
export function intact(digest: string, bytes: Uint8Array): Uint8Array {
  if (digestOf(bytes) === digest) return bytes;
  throw new EchelonError('not-found', `The object ${digest} in the archive is damaged`);
}

/** EchelonError `store-unavailable` for a failure of the directory or bucket. */
export function archiveUnavailable(error: unknown): EchelonError {
  const message = error instanceof Error ? error.message : String(error);
  return new EchelonError('store-unavailable', `The archive cannot be used: ${message}`, { cause: error });
}
