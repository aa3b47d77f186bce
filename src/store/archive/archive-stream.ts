import type { StoreContext } from '../context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import {
  longBytes,
  packSegment,
  type RawEntry,
  readSegments,
  SEGMENT_BYTES,
  type Segment,
  sizeOf,
  writeSegments,
} from './archive-segments.ts';
import { archiveSeries } from './series-archive.ts';

/** What became of a stream that was to be archived. */
type ArchiveOutcome = 'archived' | 'waiting' | 'gone';

/** MAX entries of one read. */
const ENTRIES_PER_READ = 64;
/** MAX reads of a stream that changes meanwhile; the next round tries again. */
const TRIES = 3;

/** Moves streams into the archive. */
export function createArchiveStreams(context: StoreContext) {
  return {
    /** Finished experiments whose streams are not archived yet. */
    backlog: () => guarded(context.redis.zcard(context.keys.archiving)),

    /**
     * Takes up to `limit` experiments that ended at least `afterMs` ago and whose stream is not archived; they come back
     * after `leaseMs`.
     */
    async take({
      limit,
      leaseMs,
      afterMs,
    }: {
      limit: number;
      leaseMs: number;
      afterMs: number;
    }): Promise<string[]> {
      return (await context.run('take-archiving', [limit, leaseMs, afterMs, 'archiving'])) as string[];
    },

    /**
     * Moves a finished experiment's stream into the archive with the same ids and bytes. `waiting`: it has not ended, or a
     * batch has no report yet. May be repeated, also by another process at the same time; entries are always readable.
     */
    async archiveStream(id: string): Promise<ArchiveOutcome> {
      // Before the stream: after a crash the stream is still listed, so both are done again.
      await archiveSeries(context, id);
      for (let tries = 0; tries < TRIES; tries++) {
        const outcome = await archiveOnce(context, id);
        // The experiment was deleted meanwhile, so its new objects are garbage.
        if (outcome === 'gone') await guarded(context.redis.sadd(context.keys.garbage, id));
        if (outcome !== 'changed') return outcome;
      }
      return 'waiting';
    },

    /** Running experiments whose streams exceed `liveBytes`. */
    async longStreams(): Promise<string[]> {
      const { redis, keys } = context;
      const [leased, external] = await Promise.all(
        [keys.leases, `${keys.root}:runs`].map((key) => guarded(redis.zrange(key, '0', '-1'))),
      );
      const ids = [...leased!, ...external!];
      return ids.length === 0 ? [] : await longOf(context, ids);
    },

    /**
     * Moves the oldest entries of a live stream into the archive, with the same ids and bytes, until it is below `liveBytes`.
     * All entries are always readable. Returns the number of moved segments. May be repeated, also by another process at
     * the same time.
     */
    rollStream: (id: string) => rollStream(context, id),
  };
}

/** Moves the oldest entries of a live stream into the archive, until it is below `liveBytes`; returns the number of segments. */
export async function rollStream(context: StoreContext, id: string): Promise<number> {
  let moved = 0;
  while ((await longOf(context, [id])).length > 0 && (await rollOnce(context, id))) moved += 1;
  return moved;
}

/** The experiments with long streams. */
async function longOf({ redis, keys, limits }: StoreContext, ids: readonly string[]): Promise<string[]> {
  const asking = redis.pipeline();
  for (const id of ids) asking.hget(keys.experiment(id), 'streamBytes');
  const sizes = await runAll(asking);
  return ids.filter((_id, at) => Number(sizes[at] ?? 0) > limits.liveBytes);
}

/** As {@link archiveOnce}: first the bytes, then index and shortened stream in one step. */
async function rollOnce(context: StoreContext, id: string): Promise<boolean> {
  const { redis, keys, run, limits } = context;
  const before = (await guarded(redis.hget(keys.experiment(id), 'segments'))) ?? '';
  const entries: RawEntry[] = [];
  let size = 0;
  let long = 0;
  for await (const entry of rawEntries(context, id)) {
    entries.push(entry);
    size += sizeOf(entry);
    long += longBytes(entry);
    if (size >= Math.min(SEGMENT_BYTES, limits.liveBytes / 2)) break;
  }
  if (entries.length === 0) return false;
  const segment = await putSegment(context, id, entries);
  const index = writeSegments([...readSegments(before), segment]);
  const outcome = await run('roll-stream', [id, segment.last, index, before, long, size]);
  // The experiment was deleted meanwhile, so its new objects are garbage.
  if (outcome === 'gone') await guarded(context.redis.sadd(context.keys.garbage, id));
  return outcome === 'rolled';
}

/**
 * First the bytes, then index and emptied stream in one step. A crash in between leaves the stream unchanged; the next call
 * writes the same objects again.
 */
async function archiveOnce(context: StoreContext, id: string): Promise<ArchiveOutcome | 'changed'> {
  const { redis, keys, run } = context;
  const names = ['state', 'endedAt', 'vBatches', 'vVerified', 'segments'];
  const [state, endedAt, batches, verified, index] = await guarded(
    redis.hmget(keys.experiment(id), ...names),
  );
  if (state && (!endedAt || Number(batches) !== Number(verified))) return 'waiting';
  const before = index ?? '';
  const segments = readSegments(before);
  const known = segments.length;
  const long = { bytes: 0 };
  if (state) for await (const segment of packStream(context, id, long)) segments.push(segment);
  const made = segments.slice(known);
  const read = {
    experiment: id,
    last: made.at(-1)?.last ?? '',
    count: made.reduce((sum, { count }) => sum + count, 0),
    index: writeSegments(segments),
    before,
    eventBytes: segments.reduce((sum, { entries }) => sum + entries.bytes, 0),
    partBytes: segments.reduce((sum, { parts }) => sum + (parts?.bytes ?? 0), 0),
    longBytes: long.bytes,
  };
  return (await run('archive-stream', [JSON.stringify(read)])) as ArchiveOutcome | 'changed';
}

/**
 * Archives the stream's entries segment by segment, and sums the bytes of parts that are archived already. Memory: one
 * segment and one read.
 */
async function* packStream(
  context: StoreContext,
  id: string,
  long: { bytes: number },
): AsyncGenerator<Segment, void, undefined> {
  let entries: RawEntry[] = [];
  let size = 0;
  for await (const entry of rawEntries(context, id)) {
    entries.push(entry);
    size += sizeOf(entry);
    long.bytes += longBytes(entry);
    if (size < SEGMENT_BYTES) continue;
    yield await putSegment(context, id, entries);
    entries = [];
    size = 0;
  }
  if (entries.length > 0) yield await putSegment(context, id, entries);
}

async function putSegment(
  { archive }: StoreContext,
  id: string,
  entries: readonly RawEntry[],
): Promise<Segment> {
  const { segment, objects } = await packSegment(entries);
  for (const { digest, bytes } of objects) await archive.put(id, digest, bytes);
  return segment;
}

async function* rawEntries({ redis, keys }: StoreContext, id: string): AsyncGenerator<RawEntry> {
  for (let from = '-'; ; ) {
    const page = await guarded(redis.xrangeBuffer(keys.events(id), from, '+', 'COUNT', ENTRIES_PER_READ));
    for (const [entry, fields] of page) yield { id: entry.toString('latin1'), fields };
    const last = page.at(-1);
    if (page.length < ENTRIES_PER_READ || !last) return;
    from = `(${last[0].toString('latin1')}`;
  }
}
