import { EchelonError } from '../../core/errors.ts';
import type { FeedEntry } from '../../core/events.ts';
import type { Store } from '../../store/store.ts';
import type {
  StoredSubscription,
  Subject,
  SubscriptionAdvance,
} from '../../store/subscriptions/subscriptions.ts';
import type { Log } from '../log.ts';
import { everyMs, messageOf, waitMessage, waitOf } from './match.ts';

/** Entries of a feed in one step. */
const ENTRIES_AT_ONCE = 128;

/**
 * Turns new entries of the feeds into messages for subscriptions. Every dispatcher does so; the store takes the result of
 * the first one and moves the cursor in the same step, so that a dispatcher that dies leaves no partial result.
 */
export function createFeedReader({
  store,
  log,
  stopped,
}: {
  store: Pick<Store, 'feed' | 'subscriptions'>;
  log: Log;
  stopped: () => boolean;
}): (now: number) => Promise<void> {
  return async (now) => {
    for (const { project, cursor } of await store.subscriptions.unread()) {
      if (stopped()) return;
      await advance(store, project, cursor).catch((error: Error) => {
        log.warn({ err: error, project }, 'cannot read the feed of a project; it is tried again');
      });
    }
    await advanceWaits(store, now);
  };
}

async function advance(
  store: Pick<Store, 'feed' | 'subscriptions'>,
  project: string,
  from: string,
): Promise<void> {
  for (let cursor = from; ; ) {
    const page = await pageOf(store, project, cursor);
    if (page.entries.length === 0 && page.missed === 0) return;
    const subscriptions = await store.subscriptions.list(project);
    const found = await evaluate(store, subscriptions, page.entries);
    const read = { cursor, last: page.last, missed: page.missed };
    if ((await store.subscriptions.advance({ project, read, ...found })) === 'moved') return;
    cursor = page.last;
  }
}

/** The next entries; or how many were deleted before anyone read them. */
async function pageOf(store: Pick<Store, 'feed' | 'subscriptions'>, project: string, cursor: string) {
  try {
    const entries = await store.feed.read(project, cursor, ENTRIES_AT_ONCE);
    return { entries, last: entries.at(-1)?.id ?? cursor, missed: 0 };
  } catch (error) {
    if (!(error instanceof EchelonError) || error.code !== 'history-trimmed') throw error;
    const last = await store.feed.beforeOldest(project);
    return { entries: [], last, missed: Number(last) - Number(cursor) };
  }
}

async function evaluate(
  store: Pick<Store, 'feed' | 'subscriptions'>,
  subscriptions: readonly StoredSubscription[],
  entries: readonly FeedEntry[],
): Promise<Pick<SubscriptionAdvance, 'messages' | 'waits'>> {
  const filters = subscriptions.some(({ owner, tags }) => owner !== undefined || tags !== undefined);
  const ids = filters ? entries.flatMap(({ experiment }) => experiment ?? []) : [];
  const subjects = await store.subscriptions.subjects(ids);
  const subjectOf = new Map<string | null, Subject | undefined>(ids.map((id, at) => [id, subjects[at]]));
  const all = entries.flatMap((entry) =>
    subscriptions.map((one) => ({ one, entry, subject: subjectOf.get(entry.experiment) })),
  );
  return {
    messages: all.flatMap(({ one, entry, subject }) => {
      const message = messageOf(one, entry, subject);
      return message ? [{ subscription: one.id, message, everyMs: everyMs(one) }] : [];
    }),
    waits: all.flatMap(({ one, entry, subject }) => waitOf(one, entry, subject) ?? []),
  };
}

/** Sends a message for each wait that became too long, if its experiment is still queued. */
async function advanceWaits(store: Pick<Store, 'feed' | 'subscriptions'>, now: number): Promise<void> {
  const due = await store.subscriptions.dueWaits(now);
  const subjects = await store.subscriptions.subjects(due.map(({ id }) => id));
  for (const [at, { member, project, subscription, id }] of due.entries()) {
    const subject = subjects[at];
    const found = await store.subscriptions.get(subscription);
    const message =
      found && subject?.state === 'queued' ? waitMessage(found, id, { ...subject, now }) : undefined;
    const one = {
      subscription,
      everyMs: found ? everyMs(found) : 0,
      wait: member,
      ...(message && { message }),
    };
    await store.subscriptions.advance({ project, read: null, messages: [one], waits: [] });
  }
}
