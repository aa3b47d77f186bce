import type { NumberedEvent, StreamEntry } from '../../core/events.ts';
import type { Lease } from '../attempts/contract.ts';

/** Where to begin to read an experiment's log. */
export interface LogPlace {
  /** An event at or before the requested place; null if no line of the log comes before it. */
  entry: string | null;
  /** Lines before that event, over all attempts. */
  before: number;
  /** Lines and bytes (with line breaks) of the whole log so far. */
  lines: number;
  bytes: number;
}

/** Consecutive entries of a stream. */
export interface EventPage {
  entries: StreamEntry[];
  /** Further entries may exist, even if these are fewer than the limit. */
  more: boolean;
}

/** The event streams of experiments. */
export interface EventStore {
  /**
   * Appends events in order. Recorded ones are ignored; a gap throws `sequence-gap`, a stale lease
   * `lease-lost`. Returns the last recorded sequence number. Completed batches become pending verification.
   */
  append(lease: Lease, events: readonly NumberedEvent[]): Promise<number>;
  /** Entries after `after` (exclusive; undefined: from the start), at most `limit`, in order. */
  read(id: string, after: string | undefined, limit: number): Promise<StreamEntry[]>;
  /** The same in one step, which ends after about 1 MB. */
  page(id: string, after: string | undefined, limit: number): Promise<EventPage>;
  /** The newest entries, in order. */
  tail(id: string, limit: number): Promise<StreamEntry[]>;
  /** True if no further event can come (see {@link EventStore.follow}), or if there is no such experiment. */
  isOver(id: string): Promise<boolean>;
  /**
   * Yields entries after `after` as they arise, until `signal` aborts, the store closes, or no further entry can come: the
   * experiment is final, each batch has its report, and its rules and the early stopping of its sweep have read all.
   * Throws `not-found`. A restart of the server does not end it.
   */
  follow(id: string, after: string | undefined, signal: AbortSignal): AsyncIterable<StreamEntry>;
  /** The place of a line (from 1) or of an event. The cost does not depend on the length of the log. */
  logPosition(id: string, of: { line: number } | { entry: string }): Promise<LogPlace>;
}
