import { EchelonError } from '../../core/errors.ts';
import type { FeedEntry, FeedEvent } from '../../core/events.ts';
import type { StoreContext } from '../context.ts';
import { guarded } from '../redis/errors.ts';
import { createWaker, orNothing, RETRY_MS } from '../redis/waker.ts';

/** The id of an entry; '0' is the place before the first. */
const FEED_ID = /^(0|[1-9]\d{0,14})$/;

/** The feeds of one project, or of all projects (null). Their length is bounded: the oldest entries are deleted. */
export function createFeed(context: StoreContext) {
  const { redis, keys, limits } = context;

  async function readFeed(project: string | null, after: string, limit: number): Promise<FeedEntry[]> {
    if (!FEED_ID.test(after)) throw unknownId(after);
    const [outcome, number, ...rows] = (await context.run('read-feed', [nameOf(project), after, limit])) as [
      string,
      string,
      ...string[][],
    ];
    if (outcome === 'ahead') throw unknownId(after);
    if (outcome === 'trimmed') throw trimmed(after, Number(number));
    return rows.map(toFeedEntry);
  }

  async function* followFeed(project: string | null, after: string, signal: AbortSignal) {
    const waker = createWaker();
    const subscription = context.hub.listen(keys.feedChanged, (of) => {
      if (of === undefined || project === null || of === project) waker.wake();
    });
    signal.addEventListener('abort', waker.wake);
    try {
      let last = after;
      while (!signal.aborted && !context.hub.closed) {
        waker.reset();
        const entries = await orNothing(readFeed(project, last, limits.pageEntries));
        for (const entry of entries ?? []) {
          if (signal.aborted) return;
          last = entry.id;
          yield entry;
        }
        // A page below the limit had every entry; later entries send a wake-up.
        if (entries === undefined || entries.length < limits.pageEntries) {
          await waker.wait(entries === undefined ? RETRY_MS : limits.followPollMs);
        }
      }
    } finally {
      signal.removeEventListener('abort', waker.wake);
      subscription.stop();
      waker.stop();
    }
  }

  return {
    /** Id of the newest entry; '0' before the first. */
    async end(project: string | null): Promise<string> {
      return (await guarded(redis.hget(keys.feeds, nameOf(project)))) ?? '0';
    },
    /** The id from which the entries that the feed still has can be read. */
    async beforeOldest(project: string | null): Promise<string> {
      const [first] = await guarded(
        redis.xrange(`${keys.root}:feed:${nameOf(project)}`, '-', '+', 'COUNT', 1),
      );
      return first ? String(Number.parseInt(first[0], 10) - 1) : this.end(project);
    },
    /**
     * Entries after `after`, at most `limit`, in order. Throws EchelonError `history-trimmed` if some of them were deleted,
     * `invalid-cursor` for an id that the feed does not have.
     */
    read: readFeed,
    /** Yields entries after `after` as they arise, until `signal` aborts or the store closes. Throws as `read` does. */
    follow: followFeed,
  };
}

function nameOf(project: string | null): string {
  return project === null ? 'all' : `p:${project}`;
}

function toFeedEntry(row: string[]): FeedEntry {
  const [id, project, experiment, name, sweep, at, event] = row as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  return {
    id,
    at: Number(at),
    project,
    experiment: experiment || null,
    name,
    sweep: sweep || null,
    event: JSON.parse(event) as FeedEvent,
  };
}

function unknownId(after: string): EchelonError {
  return new EchelonError('invalid-cursor', `This feed has no entry with the id ${after.slice(0, 100)}.`, {
    problems: [{ field: 'after', message: 'send the id of an entry, or omit it to start with new entries' }],
  });
}

function trimmed(after: string, oldest: number): EchelonError {
  return new EchelonError(
    'history-trimmed',
    `The feed has deleted entries after the id ${after}. Its oldest entry has the id ${oldest}.`,
    {
      problems: [
        {
          field: 'after',
          message: `read the current state from the lists, then continue after ${oldest - 1}, or without an id`,
        },
      ],
    },
  );
}
