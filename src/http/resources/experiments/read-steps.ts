import type { StreamEntry } from '../../../core/events.ts';
import type { StorePart } from '../../../store/store.ts';

const PAGE = 500;
/** Entries that one request looks through at most, wanted or not. */
const MAX_READ = 10_000;

/**
 * Reads a stream from `after` on and keeps the entries that are wanted, until there are `most`, or they are as large
 * together as `mostSize`. `sizeOf` an entry that is not wanted is undefined. The answer's `after` is the last entry that
 * was looked at (null: none), `more` whether later entries may already exist.
 */
export async function readOn(
  store: StorePart<'events.read'>,
  input: {
    id: string;
    after: string | undefined;
    most: number;
    mostSize: number;
    sizeOf: (entry: StreamEntry) => number | undefined;
  },
): Promise<{ entries: StreamEntry[]; after: string | null; more: boolean }> {
  const entries: StreamEntry[] = [];
  let { after } = input;
  let size = 0;
  for (let read = 0; read < MAX_READ; read += PAGE) {
    const page = await store.events.read(input.id, after, PAGE);
    for (const entry of page) {
      after = entry.id;
      const own = input.sizeOf(entry);
      if (own === undefined) continue;
      entries.push(entry);
      size += own;
      if (entries.length === input.most || size >= input.mostSize) return { entries, after, more: true };
    }
    if (page.length < PAGE) return { entries, after: after ?? null, more: false };
  }
  return { entries, after: after ?? null, more: true };
}
