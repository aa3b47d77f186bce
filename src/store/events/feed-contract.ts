import type { FeedEntry } from '../../core/events.ts';

/** The feeds of one project, or of all projects (null). Their length is bounded: the oldest entries are deleted. */
export interface FeedStore {
  /** Id of the newest entry; '0' before the first. */
  end(project: string | null): Promise<string>;
  /**
   * Entries after `after`, at most `limit`, in order. Throws EchelonError `history-trimmed` if some of them were deleted,
   * `invalid-cursor` for an id that the feed does not have.
   */
  read(project: string | null, after: string, limit: number): Promise<FeedEntry[]>;
  /** Yields entries after `after` as they arise, until `signal` aborts or the store closes. Throws as `read` does. */
  follow(project: string | null, after: string, signal: AbortSignal): AsyncIterable<FeedEntry>;
}
