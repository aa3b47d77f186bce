import type { FeedEntry } from '../../core/events.ts';

/** The feeds: of one project, or (null) of all of them. Bounded in length: the oldest entries go. */
export interface FeedStore {
  /** Id of the newest entry; '0' before the first. */
  end(project: string | null): Promise<string>;
  /**
   * Entries behind `after`, at most `limit`, in order. Throws EchelonError `history-trimmed` where some of them are not
   * kept any more, `invalid-cursor` for an id that was not given out.
   */
  read(project: string | null, after: string, limit: number): Promise<FeedEntry[]>;
  /** Yields entries behind `after` as they arise, until `signal` aborts or the store closes. Throws as `readFeed`. */
  follow(project: string | null, after: string, signal: AbortSignal): AsyncIterable<FeedEntry>;
}
