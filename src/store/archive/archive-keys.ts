import { createHash } from 'node:crypto';
import { EchelonError } from '../../core/errors.ts';

/** SHA-256 of bytes, in hex: their name in an archive. */
export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Throws unless both may name something: neither can leave its place in a directory or a bucket. */
export function checkPlace(owner: string, digest: string): void {
  checkOwner(owner);
  if (!/^[0-9a-f]{64}$/.test(digest)) throw new EchelonError('not-found', 'A digest is 64 hex digits');
}

/** The part of {@link checkPlace} that concerns the owner. */
export function checkOwner(owner: string): void {
  if (!/^[a-z][a-z0-9-]{2,63}$/.test(owner)) {
    throw new EchelonError('not-found', 'An owner in the archive is named in lower-case letters and digits');
  }
}

/** Throws unless the bytes have that digest: what is put under a name is what the name says. */
export function checkBytes(digest: string, bytes: Uint8Array): void {
  if (digestOf(bytes) === digest) return;
  throw new EchelonError('internal', `The bytes for ${digest} do not have that digest`);
}

/** Bytes that were read, unless they are not those that were put. */
export function intact(digest: string, bytes: Uint8Array): Uint8Array {
  if (digestOf(bytes) === digest) return bytes;
  throw new EchelonError('not-found', `What the archive has for ${digest} is damaged`);
}

/** What an archive throws where the place behind it fails. */
export function archiveUnavailable(error: unknown): EchelonError {
  const message = error instanceof Error ? error.message : String(error);
  return new EchelonError('store-unavailable', `The archive cannot be used: ${message}`, { cause: error });
}
