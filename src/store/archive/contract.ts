import type { RetentionStage } from '../../schemas/retention.ts';

/** What became of a stream that was to be archived. */
export type ArchiveOutcome = 'archived' | 'waiting' | 'gone';

/** What is due of a project at a stage. */
export interface DueFigures {
  experiments: number;
  /** What the archive has of it; of the ones that ended first only, where `complete` is false. */
  bytes: number;
  complete: boolean;
  /** The ones that ended first. */
  first: string[];
  /** Batches of those counted in `bytes` that are kept whatever retention says. */
  kept: number;
}

/** An experiment of which clusters may still keep event logs. */
export interface Forgetting {
  id: string;
  /** null: it was deleted, and every cluster is to be asked. */
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
   * Moves a finished experiment's stream into the archive; ids and bytes stay the same. `waiting`: it has not ended, or
   * a batch has no report yet. May be repeated, also at the same time by another: the entries stay readable throughout.
   */
  archiveStream(id: string): Promise<ArchiveOutcome>;
  /** Experiments that run and whose streams take more of Redis than `liveBytes`. */
  longStreams(): Promise<string[]>;
  /**
   * Moves the oldest entries of a stream that goes on into the archive, while it takes more than `liveBytes`; ids and
   * bytes stay the same, and all of it stays readable. Returns how many segments were moved. May be repeated, also at
   * the same time by another.
   */
  rollStream(id: string): Promise<number>;
  /** Finished experiments whose streams are not archived yet. */
  backlog(): Promise<number>;
}

/** Deletes what retention does not keep. */
export interface RetentionStore {
  /**
   * Takes up to `limit` experiments that ended at least `afterMs` ago and of which clusters may still keep event logs;
   * they come back after `leaseMs`.
   */
  takeForgetting(options: { limit: number; leaseMs: number; afterMs: number }): Promise<Forgetting[]>;
  /** They come back after `laterMs`, of those that `takeForgetting` gave out with `afterMs`. */
  forgetLater(ids: readonly string[], options: { laterMs: number; afterMs: number }): Promise<void>;
  /** How many of a project ended before `endedBefore` and are still to be forgotten; of some 10,000 at most. */
  forgettingFigures(
    project: string,
    endedBefore: number,
  ): Promise<{ experiments: number; complete: boolean }>;
  /** No cluster keeps anything of these. */
  forgotten(ids: readonly string[]): Promise<void>;

  /** True while this dispatcher is the one that applies retention; to be asked again before `leaseMs` are over. 0 lets go. */
  hold(dispatcher: string, leaseMs: number): Promise<boolean>;
  /** Experiments of a project that ended before `endedBefore` and lose `stage` next, those that ended first. */
  due(
    stage: RetentionStage,
    project: string,
    options: { endedBefore: number; limit: number },
  ): Promise<string[]>;
  /** What retention would delete of a project at a stage, those included that are to lose something else first. */
  dueFigures(stage: RetentionStage, project: string, endedBefore: number): Promise<DueFigures>;
  /**
   * Deletes `stage` of a finished experiment. Batches that are kept stay, with their reports, and so does the record
   * that has any. Whoever dies on the way leaves it due; a repetition finishes. `waiting`: it is not archived.
   */
  expire(stage: RetentionStage, id: string): Promise<'expired' | 'waiting' | 'gone'>;
  /**
   * Deletes sweeps of a project that ended before `endedBefore` and none of whose children is there any more. `cursor` is
   * null for the first call; null at the end.
   */
  expireSweeps(
    project: string,
    options: { endedBefore: number; limit: number; cursor: string | null },
  ): Promise<{ deleted: number; next: string | null }>;
  /** Deletes what the archive has of up to `limit` experiments that are gone; returns how many. */
  collectGarbage(limit: number): Promise<number>;
}
