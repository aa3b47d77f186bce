import type { RetentionStage } from '../../schemas/retention.ts';

/** What became of a stream that was to be archived. */
export type ArchiveOutcome = 'archived' | 'waiting' | 'gone';

/** What retention will delete of a project at a stage. */
export interface DueFigures {
  experiments: number;
  /** Their bytes in the archive; without `complete`, only of those that ended first. */
  bytes: number;
  complete: boolean;
  /** The ones that ended first. */
  first: string[];
  /** Batches of those counted in `bytes` that rules retain. */
  kept: number;
}

/** An experiment of which clusters may still keep event logs. */
export interface Forgetting {
  id: string;
  /** null if it was deleted, so that every cluster has to be asked. */
  record: {
    project: string;
    /** ms. */
    endedAt: number;
    /** The highest attempt by cluster. */
    attempts: ReadonlyMap<string, number>;
  } | null;
}

/** Moves streams into the archive. */
export interface ArchiveStore {
  /**
   * Takes up to `limit` experiments that ended at least `afterMs` ago and whose stream is not archived; they come back
   * after `leaseMs`.
   */
  take(options: { limit: number; leaseMs: number; afterMs: number }): Promise<string[]>;
  /**
   * Moves a finished experiment's stream into the archive with the same ids and bytes. `waiting`: it has not ended, or a
   * batch has no report yet. May be repeated, also by another process at the same time; entries are always readable.
   */
  archiveStream(id: string): Promise<ArchiveOutcome>;
  /** Running experiments whose streams exceed `liveBytes`. */
  longStreams(): Promise<string[]>;
  /**
   * Moves the oldest entries of a live stream into the archive, with the same ids and bytes, until it is below `liveBytes`.
   * All entries are always readable. Returns the number of moved segments. May be repeated, also by another process at
   * the same time.
   */
  rollStream(id: string): Promise<number>;
  /** Finished experiments whose streams are not archived yet. */
  backlog(): Promise<number>;
}

/** Retention: deletes expired data. */
export interface RetentionStore {
  /**
   * Takes up to `limit` experiments that ended at least `afterMs` ago and of which clusters may still keep event logs;
   * they come back after `leaseMs`.
   */
  takeForgetting(options: { limit: number; leaseMs: number; afterMs: number }): Promise<Forgetting[]>;
  /** Returns experiments of `takeForgetting` (called with `afterMs`) to the list, due after `laterMs`. */
  forgetLater(ids: readonly string[], options: { laterMs: number; afterMs: number }): Promise<void>;
  /** Number of a project's listed experiments that ended before `endedBefore`, among about 10,000 at most. */
  forgettingFigures(
    project: string,
    endedBefore: number,
  ): Promise<{ experiments: number; complete: boolean }>;
  /** Records that no cluster has event logs of these any more. */
  forgotten(ids: readonly string[]): Promise<void>;

  /** Takes or renews the lease of retention for this dispatcher; false if another has it. `leaseMs` 0 releases it. */
  hold(dispatcher: string, leaseMs: number): Promise<boolean>;
  /** Experiments of a project that ended before `endedBefore` and have `stage` deleted next, in the order of their ends. */
  due(
    stage: RetentionStage,
    project: string,
    options: { endedBefore: number; limit: number },
  ): Promise<string[]>;
  /** What retention would delete of a project at a stage, including experiments that are at an earlier stage. */
  dueFigures(stage: RetentionStage, project: string, endedBefore: number): Promise<DueFigures>;
  /**
   * Deletes `stage` of a finished experiment. Batches that rules retain are not deleted, nor are their reports and the
   * record that has any. After a crash it is still due, and a repetition finishes. `waiting`: it is not archived.
   */
  expire(stage: RetentionStage, id: string): Promise<'expired' | 'waiting' | 'gone'>;
  /**
   * Deletes sweeps of a project that ended before `endedBefore` and whose children are all deleted. `cursor` is null for the
   * first call; `next` is null at the end.
   */
  expireSweeps(
    project: string,
    options: { endedBefore: number; limit: number; cursor: string | null },
  ): Promise<{ deleted: number; next: string | null }>;
  /** Deletes the archived objects of up to `limit` deleted experiments; returns their number. */
  collectGarbage(limit: number): Promise<number>;
}
