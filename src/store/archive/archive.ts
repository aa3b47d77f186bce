/**
 * Keeps bytes outside Redis: by their SHA-256, for one owner (an experiment). Owners share nothing, so that whatever an
 * owner has can be deleted when it goes. Throws EchelonError `store-unavailable` where it does not answer.
 */
export interface Archive {
  /** May be repeated; what is there already is not written again. */
  put(owner: string, digest: string, bytes: Uint8Array): Promise<void>;
  /** Throws EchelonError `not-found`, also where what is there does not have the digest. */
  get(owner: string, digest: string): Promise<Uint8Array>;
  /** Deletes everything of the owner but `except`. May be repeated. */
  remove(owner: string, except?: ReadonlySet<string>): Promise<void>;
}
