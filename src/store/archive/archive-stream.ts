import type { StoreContext } from '../redis/context.ts';
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
import type { ArchiveOutcome, ArchiveStore } from './contract.ts';
import { archiveSeries } from './series-archive.ts';

/** Entries of a stream that one reading step holds in memory. */
const ENTRIES_PER_READ = 64;
/** A stream that is added to while it is read is read again so often; then it is another time's work. */
const TRIES = 3;

/** Moves streams into the archive: of finished experiments whole, of those that run their oldest entries. */
export function createArchiveStreams(context: StoreContext): ArchiveStore {
  return {
    backlog: () => guarded(context.redis.zcard(context.keys.archiving)),

    async take({ limit, leaseMs, afterMs }) {
      return (await context.run('take-archiving', [limit, leaseMs, afterMs, 'archiving'])) as string[];
    },

    async archiveStream(id) {
      // First: what dies behind it finds the stream still to be archived, and does both.
      await archiveSeries(context, id);
      for (let tries = 0; tries < TRIES; tries++) {
        const outcome = await archiveOnce(context, id);
        // Deleted in the meantime: what was just put there is nobody's.
        if (outcome === 'gone') await context.archive.remove(id);
        if (outcome !== 'changed') return outcome;
      }
      return 'waiting';
    },

    async longStreams() {
      const { redis, keys } = context;
      const ids = await guarded(redis.zrange(keys.leases, '0', '-1'));
      return ids.length === 0 ? [] : await longOf(context, ids);
    },

    async rollStream(id) {
      let moved = 0;
      while ((await longOf(context, [id])).length > 0 && (await rollOnce(context, id))) moved += 1;
      return moved;
    },
  };
}

/** Those of the experiments whose streams are long. */
async function longOf({ redis, keys, limits }: StoreContext, ids: readonly string[]): Promise<string[]> {
  const asking = redis.pipeline();
  for (const id of ids) asking.memory('USAGE', keys.events(id));
  const sizes = await runAll(asking);
  return ids.filter((_id, at) => Number(sizes[at] ?? 0) > limits.liveBytes);
}

/** As {@link archiveOnce}: first the bytes, then in one step the index and what is left of the stream. */
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
  const outcome = await run('roll-stream', [id, segment.last, index, before, long]);
  // Deleted in the meantime: what was just put there is nobody's.
  if (outcome === 'gone') await context.archive.remove(id);
  return outcome === 'rolled';
}

/**
 * First the bytes, then in one step the index and the emptied stream: what dies in between leaves the stream as it was,
 * and objects that the next time makes again under the same names.
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
  return (await run('archive-stream', [
    id,
    made.at(-1)?.last ?? '',
    made.reduce((sum, { count }) => sum + count, 0),
    writeSegments(segments),
    before,
    segments.reduce((sum, { entries }) => sum + entries.bytes, 0),
    segments.reduce((sum, { parts }) => sum + (parts?.bytes ?? 0), 0),
    long.bytes,
  ])) as ArchiveOutcome | 'changed';
}

/**
 * Puts the stream's entries into the archive, segment by segment, and adds up the bytes that are there already. Memory:
 * one segment and one reading step.
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
