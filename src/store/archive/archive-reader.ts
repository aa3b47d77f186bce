import type { Archive } from './archive.ts';
import {
  compareIds,
  type RawEntry,
  type Segment,
  sizeOf,
  unpackEntries,
  unpackParts,
} from './archive-segments.ts';
import { BUFFER_BYTES } from './decompress.ts';

/** MAX memory of cached segments: eight of the usual size. A larger segment is not kept. */
const CACHE_BYTES = 32 * 1024 * 1024;
/** Memory of the other objects of an entry, beside its Buffers and their bytes (Node 24, heap snapshot). */
const ENTRY_BYTES = 200;
/** Bytes of entries after which a read ends, as in redis/lua/entries.lua. */
const BYTES_AT_ONCE = 1024 * 1024;

/** Reads streams whose entries are in the archive. Memory: a few unpacked segments, for all callers together. */
export interface ArchiveReader {
  /**
   * At most `limit` entries after `after` (undefined: from the start), in order; after about 1 MB no further ones. Without
   * `more` there is none after these.
   */
  forwards(
    owner: string,
    segments: readonly Segment[],
    after: string | undefined,
    limit: number,
  ): Promise<{ entries: RawEntry[]; more: boolean }>;
  /** The newest `limit` entries before `before` (undefined: of all), in order. */
  backwards(
    owner: string,
    segments: readonly Segment[],
    place: { before: string | undefined; limit: number },
  ): Promise<RawEntry[]>;
  /** The entries from one id to another, both included, with their bytes; one segment at a time. */
  between(owner: string, segments: readonly Segment[], from: string, to: string): AsyncIterable<RawEntry>;
}

/**
 * Concurrent callers share the read of a segment. The least recently used segment leaves the cache first. What counts is the
 * memory of the unpacked entries: lines of a log may take a thousandth of it in the archive.
 */
function createSegmentCache(archive: Archive): (owner: string, segment: Segment) => Promise<RawEntry[]> {
  const kept = new Map<string, { bytes: number; entries: Promise<RawEntry[]> }>();
  let keptBytes = 0;

  function forgetOldest(): void {
    for (const [digest, { bytes }] of kept) {
      if (keptBytes <= CACHE_BYTES) return;
      if (bytes === 0) continue; // still being read, for callers that wait
      keptBytes -= bytes;
      kept.delete(digest);
    }
  }

  return (owner, { entries: { digest } }) => {
    const known = kept.get(digest);
    if (known) {
      kept.delete(digest);
      kept.set(digest, known);
      return known.entries;
    }
    const read = { bytes: 0, entries: archive.get(owner, digest).then(unpackEntries) };
    kept.set(digest, read);
    read.entries.then(
      (entries) => {
        read.bytes = memoryOf(entries);
        keptBytes += read.bytes;
        forgetOldest();
      },
      () => kept.delete(digest),
    );
    return read.entries;
  };
}

function memoryOf(entries: readonly RawEntry[]): number {
  return entries.reduce(
    (sum, entry) => sum + sizeOf(entry) + ENTRY_BYTES + BUFFER_BYTES * entry.fields.length,
    ENTRY_BYTES,
  );
}

/** See {@link ArchiveReader}. */
export function createArchiveReader(archive: Archive): ArchiveReader {
  const entriesOf = createSegmentCache(archive);
  return {
    async forwards(owner, segments, after, limit) {
      const found: RawEntry[] = [];
      let bytes = 0;
      const isFull = () => found.length >= limit || bytes >= BYTES_AT_ONCE;
      for (const segment of segments) {
        if (after !== undefined && compareIds(segment.last, after) <= 0) continue;
        if (isFull()) return { entries: found, more: true };
        const entries = await entriesOf(owner, segment);
        const from = after === undefined ? 0 : countWhile(entries, (id) => compareIds(id, after) <= 0);
        for (const entry of entries.slice(from)) {
          if (isFull()) return { entries: found, more: true };
          found.push(entry);
          bytes += sizeOf(entry);
        }
      }
      return { entries: found, more: false };
    },

    async backwards(owner, segments, { before, limit }) {
      let found: RawEntry[] = [];
      for (const segment of [...segments].reverse()) {
        if (found.length >= limit) break;
        if (before !== undefined && compareIds(segment.first, before) >= 0) continue;
        const entries = await entriesOf(owner, segment);
        const end = countWhile(entries, (id) => before === undefined || compareIds(id, before) < 0);
        found = [...entries.slice(Math.max(0, end - (limit - found.length)), end), ...found];
      }
      return found;
    },

    async *between(owner, segments, from, to) {
      for (const segment of segments) {
        if (compareIds(segment.last, from) < 0 || compareIds(segment.first, to) > 0) continue;
        const entries = await entriesOf(owner, segment);
        const parts =
          segment.parts === null ? [] : await unpackParts(await archive.get(owner, segment.parts.digest));
        yield* withBytes(entries, parts).filter(
          ({ id }) => compareIds(id, from) >= 0 && compareIds(id, to) <= 0,
        );
      }
    },
  };
}

/** Puts the bytes back into their entries. */
function withBytes(entries: readonly RawEntry[], parts: readonly Buffer[]): RawEntry[] {
  let next = 0;
  return entries.map((entry) => {
    if (entry.fields[6]?.toString() !== 'b') return entry;
    const bytes = parts[next++];
    return bytes === undefined ? entry : { ...entry, fields: [...entry.fields.slice(0, 7), bytes] };
  });
}

/** Number of entries before the first one for which `isBefore` is false; entries are in order. */
function countWhile(entries: readonly RawEntry[], isBefore: (id: string) => boolean): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(entries[middle]!.id)) low = middle + 1;
    else high = middle;
  }
  return low;
}
