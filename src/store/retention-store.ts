/** What retention deletes of a finished experiment, in this order. */
export type RetentionStage = 'batches' | 'streams' | 'records';

/** What became of a stream that was to be archived. */
export type ArchiveOutcome = 'archived' | 'waiting' | 'gone';

/** The part of the store that moves what is finished into the archive, and deletes what need not be kept. */
export interface RetentionStore {
  /**
   * Takes up to `limit` experiments that ended at least `afterMs` ago and whose stream is not archived; they come back
   * after `leaseMs`.
   */
  takeArchiving(options: { limit: number; leaseMs: number; afterMs: number }): Promise<string[]>;
  /**
   * Moves a finished experiment's stream into the archive; ids and bytes stay the same. `waiting`: it has not ended, or
   * a batch has no report yet. May be repeated, also at the same time by another: the entries stay readable throughout.
   */
  archiveStream(id: string): Promise<ArchiveOutcome>;
}
