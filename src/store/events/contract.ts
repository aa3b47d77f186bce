import type { NumberedEvent, StreamEntry } from '../../core/events.ts';
import type { Lease } from '../attempts/contract.ts';

/** Where to begin to read an experiment's log. */
export interface LogPlace {
  /** An event that does not come behind what was asked for; null: nothing of the log comes before it. */
  entry: string | null;
  /** Lines before that event, over all attempts. */
  before: number;
  /** Lines and bytes (with line breaks) of the whole log so far. */
  lines: number;
  bytes: number;
}

/** The event streams of experiments. */
export interface EventStore {
  /**
   * Appends events in order. Those already recorded are passed over; a gap throws `sequence-gap`, a stale lease
   * `lease-lost`. Returns the last recorded sequence number. Completed batches become pending verification.
   */
  append(lease: Lease, events: readonly NumberedEvent[]): Promise<number>;
  /** Entries after `after` (exclusive; undefined: from the start), at most `limit`, in order. */
  read(id: string, after: string | undefined, limit: number): Promise<StreamEntry[]>;
  /** The newest entries, in order. */
  tail(id: string, limit: number): Promise<StreamEntry[]>;
  /** No event can come any more (see {@link EventStore.follow}), or there is no such experiment. */
  isOver(id: string): Promise<boolean>;
  /**
   * Yields entries after `after` as they arise, until `signal` aborts, the store closes, or nothing can come any
   * more: the experiment is final, each of its batches has its report, its rules and the early stopping of its sweep
   * have looked at them, and all was sent. Throws `not-found`; rides out a restart of the server once it has begun.
   */
  follow(id: string, after: string | undefined, signal: AbortSignal): AsyncIterable<StreamEntry>;
  /** For a line (from 1), or the place of an event. The cost does not depend on the length of the log. */
  logPosition(id: string, of: { line: number } | { entry: string }): Promise<LogPlace>;
}
