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
