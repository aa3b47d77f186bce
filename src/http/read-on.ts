import type { StreamEntry } from '../core/events.ts';
import type { Store } from '../store/store.ts';

const PAGE = 500;
/** Entries that one request looks through at most, wanted or not. */
const MOST_READ = 10_000;

/**
 * Reads a stream from `after` on and keeps the entries that are wanted, up to `most`. The answer's `after` is the
 * last entry that was looked at (null: none), `more` whether there may be entries behind it already.
 */
export async function readOn(
  store: Pick<Store, 'read'>,
  input: { id: string; after: string | undefined; most: number; isWanted: (entry: StreamEntry) => boolean },
): Promise<{ entries: StreamEntry[]; after: string | null; more: boolean }> {
  const entries: StreamEntry[] = [];
  let { after } = input;
  for (let read = 0; read < MOST_READ; read += PAGE) {
    const page = await store.read(input.id, after, PAGE);
    for (const entry of page) {
      after = entry.id;
      if (input.isWanted(entry)) entries.push(entry);
      if (entries.length === input.most) return { entries, after, more: true };
    }
    if (page.length < PAGE) return { entries, after: after ?? null, more: false };
  }
  return { entries, after: after ?? null, more: true };
}

/**
 * The newest entries of a stream that are wanted, in order: at least `least` of them where there are so many among
 * the newest {@link MOST_READ}. `after` is the newest entry of all.
 */
export async function readTail(
  store: Pick<Store, 'tail'>,
  input: {
    id: string;
    isEnough: (wanted: StreamEntry[]) => boolean;
    isWanted: (entry: StreamEntry) => boolean;
  },
): Promise<{ entries: StreamEntry[]; after: string | null; more: boolean }> {
  for (let limit = PAGE; ; limit *= 4) {
    const newest = await store.tail(input.id, limit);
    const entries = newest.filter(input.isWanted);
    if (newest.length < limit || limit >= MOST_READ || input.isEnough(entries)) {
      return { entries, after: newest.at(-1)?.id ?? null, more: false };
    }
  }
}
