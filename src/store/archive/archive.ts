/**
 * Stores bytes outside Redis by owner (an experiment) and SHA-256. Owners share no objects, so that all objects of an owner
 * can be deleted. Throws EchelonError `store-unavailable` if it does not answer.
 */
export interface Archive {
  /** May be repeated; an existing object is not written again. */
  put(owner: string, digest: string, bytes: Uint8Array): Promise<void>;
  /** Throws EchelonError `not-found`, also if the object does not have the digest. */
  get(owner: string, digest: string): Promise<Uint8Array>;
  /** Deletes all objects of the owner except `except`. May be repeated. */
  remove(owner: string, except?: ReadonlySet<string>): Promise<void>;
}

/** An object of an archive: its owner, and its SHA-256 in hex. */
export interface ObjectName {
  owner: string;
  digest: string;
}

/** An archive that can be copied. */
export interface ListedArchive extends Archive {
  /** All objects, or those of an owner, in no order; others may come and go meanwhile. */
  list(owner?: string): AsyncIterable<ObjectName>;
}
