import { EchelonError } from '../../core/errors.ts';
import type { EvaluationEvent, StreamEntry } from '../../core/events.ts';
import { parseEntryId } from '../../core/ids.ts';
import { compareIds, type RawEntry, readSegments, type Segment } from '../archive/archive-segments.ts';
import type { StoreContext } from '../context.ts';
import { resolvedOf } from '../experiments/documents.ts';
import { isOver, toVerification } from '../experiments/record.ts';
import { toMetricNumbers, toStoredEntries, toStreamEntry } from '../metrics/metric-entries.ts';
import { guarded } from '../redis/errors.ts';
import type { Fields } from '../redis/fields.ts';
import { createWaker, orNothing, RETRY_MS } from '../redis/waker.ts';

/** Where to begin to read an experiment's log. */
interface LogPlace {
  /** An event at or before the requested place; null if no line of the log comes before it. */
  entry: string | null;
  /** Lines before that event, over all attempts. */
  before: number;
  /** Lines and bytes (with line breaks) of the whole log so far. */
  lines: number;
  bytes: number;
}

/** Where the event of an evaluation stands, with what it says but its games; `games`: how many. */
export interface EvaluationPlace {
  attempt: number;
  /** The event is the first one after this place. */
  after: string;
  step: number;
  panel: string;
  digest: string;
  games: number;
}

/** An evaluation, or a part of one. */
export type Evaluation = Omit<EvaluationEvent, 'type'> & { attempt: number; at: number };

/** Consecutive entries of a stream. */
export interface EventPage {
  entries: StreamEntry[];
  /** Further entries may exist, even if these are fewer than the limit. */
  more: boolean;
}

/** The event streams of experiments. */
export function createEvents(context: StoreContext) {
  const { limits } = context;

  const page: ReadPage = (id, after, limit) => readPage(context, id, { after, limit });

  return {
    ...createEvaluations(context, page),
    /** The same in one step, which ends after about 1 MB. */
    async page(id: string, after: string | undefined, limit: number): Promise<EventPage> {
      checkPlace(after);
      return await page(id, after, Math.min(limit, limits.pageEntries));
    },

    /** Entries after `after` (exclusive; undefined: from the start), at most `limit`, in order. */
    async read(id: string, after: string | undefined, limit: number): Promise<StreamEntry[]> {
      checkPlace(after);
      const entries: StreamEntry[] = [];
      for (let more = true; more && entries.length < limit; ) {
        const wanted = Math.min(limits.pageEntries, limit - entries.length);
        const next = await page(id, entries.at(-1)?.id ?? after, wanted);
        entries.push(...next.entries);
        more = next.more;
      }
      return entries;
    },

    /** The newest entries, in order. */
    async tail(id: string, limit: number): Promise<StreamEntry[]> {
      if (limit <= 0) return [];
      const found: StreamEntry[] = [];
      for (;;) {
        const before = found.at(-1)?.id;
        const args = [id, before === undefined ? '+' : `(${before}`, limit - found.length, 'backwards'];
        const { segments, entries, more } = toPage(await context.run.bytes('read', args));
        found.push(...entries);
        if (more && found.length < limit) continue;
        const place = { before: found.at(-1)?.id, limit: limit - found.length };
        const older = await context.archived.backwards(id, segments, place);
        return [...(await toEntries(context, id, older)), ...found.reverse()];
      }
    },

    /** The place of a line (from 1) or of an event. The cost does not depend on the length of the log. */
    logPosition: (id: string, of: { line: number } | { entry: string }) => logPosition(context, id, of),

    /** True if no further event can come (see `follow`), or if there is no such experiment. */
    async isOver(id: string): Promise<boolean> {
      return (await statusOf(context, id)) !== 'on';
    },

    /**
     * Yields entries after `after` as they arise, until `signal` aborts, the store closes, or no further entry can come: the
     * experiment is final, each batch has its report, and its rules and the early stopping of its sweep have read all.
     * Throws `not-found`. A restart of the server does not end it.
     */
    follow(id: string, after: string | undefined, signal: AbortSignal): AsyncIterable<StreamEntry> {
      checkPlace(after);
      return follow({ context, page }, { id, after, signal });
    },
  };
}

/** Evaluations: their places are in an index, their games in the stream. */
function createEvaluations({ redis, keys }: StoreContext, page: ReadPage) {
  return {
    /** The places of all evaluations, oldest first. */
    async evaluations(id: string): Promise<EvaluationPlace[]> {
      const texts = await guarded(redis.lrange(`${keys.experiment(id)}:evaluations`, 0, -1));
      return texts.map((text) => JSON.parse(text) as EvaluationPlace);
    },

    /** The evaluation at a place; undefined if retention has deleted the events. */
    async evaluation(id: string, place: EvaluationPlace): Promise<Evaluation | undefined> {
      const [entry] = (await page(id, place.after, 1)).entries;
      if (entry?.event.type !== 'evaluation') return undefined;
      const { type: _type, ...event } = entry.event;
      return { attempt: place.attempt, at: entry.at, ...event };
    },
  };
}

async function readPage(
  context: StoreContext,
  id: string,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<EventPage> {
  const from = after === undefined ? '-' : `(${after}`;
  const { segments, ...live } = toPage(await context.run.bytes('read', [id, from, limit, 'forwards']));
  const last = segments.at(-1)?.last;
  if (last === undefined || (after !== undefined && compareIds(last, after) <= 0)) return live;
  const older = await context.archived.forwards(id, segments, after, limit);
  const archived = await toEntries(context, id, older.entries);
  if (older.more) return { entries: archived, more: true };
  const entries = [...archived, ...live.entries.slice(0, limit - archived.length)];
  return { entries, more: live.more || entries.length === limit };
}

type ReadPage = (id: string, after: string | undefined, limit: number) => Promise<EventPage>;

/**
 * Yields each entry exactly once and in order: it always reads after the last id, and waits only if nothing new has come
 * since the last wake-up. A lost wake-up costs `followPollMs`, never an entry. Memory: one page.
 */
async function* follow(
  { context, page }: { context: StoreContext; page: ReadPage },
  { id, after, signal }: { id: string; after: string | undefined; signal: AbortSignal },
): AsyncGenerator<StreamEntry, void, undefined> {
  const { keys, hub, limits } = context;
  if ((await statusOf(context, id)) === 'gone') {
    throw new EchelonError('not-found', `There is no experiment ${id}`);
  }
  const waker = createWaker();
  const subscription = hub.listen(keys.changed(id), () => waker.wake());
  signal.addEventListener('abort', waker.wake);
  try {
    let last = after;
    let over = false;
    while (!signal.aborted && !hub.closed) {
      waker.reset();
      const read = await orNothing(page(id, last, limits.pageEntries));
      for (const entry of read?.entries ?? []) {
        if (signal.aborted) return;
        last = entry.id;
        yield entry;
      }
      // Otherwise the page had every entry; later entries send a wake-up.
      if (read?.more) continue;
      if (over && read !== undefined) return;
      // Entries between that read and this check are read once more before the end.
      const status = await orNothing(statusOf(context, id));
      over = status === 'over' || status === 'gone';
      if (!over) await waker.wait(read === undefined ? RETRY_MS : limits.followPollMs);
    }
  } finally {
    signal.removeEventListener('abort', waker.wake);
    subscription.stop();
    waker.stop();
  }
}

/**
 * `over`: final, each recorded batch has its report, and its rules have read all entries, so that no further event can
 * come. `gone`: deleted.
 */
async function statusOf(context: StoreContext, id: string): Promise<'over' | 'on' | 'gone'> {
  const names = ['id', 'endedAt', 'vBatches', 'vVerified'];
  const values = await guarded(context.redis.hmget(context.keys.experiment(id), ...names));
  const fields: Fields = {};
  names.forEach((name, at) => {
    const value = values[at];
    if (value !== null && value !== undefined) fields[name] = value;
  });
  if (fields.id === undefined) return 'gone';
  if (!isOver(fields) || toVerification(fields).status !== 'complete') return 'on';
  return (await haveRulesToRead(context, id)) ? 'on' : 'over';
}

/** Whether a rule, or the early stopping of its sweep, may still fire for the last entries. */
async function haveRulesToRead(context: StoreContext, id: string): Promise<boolean> {
  const { redis, keys } = context;
  if ((await guarded(redis.zscore(`${keys.root}:signals`, id))) === null) return false;
  const { resolved, sweep } = await resolvedOf(context, id);
  const { rules } = (resolved ?? {}) as { rules?: unknown[] };
  if (rules !== undefined && rules.length > 0) return true;
  return sweep ? Boolean(await guarded(redis.hget(`${keys.root}:sweep:${sweep}`, 'earlyStopping'))) : false;
}

function checkPlace(after: string | undefined): void {
  if (after !== undefined && parseEntryId(after) === undefined) {
    throw new EchelonError('invalid-cursor', `${after.slice(0, 100)} is not the id of an event`);
  }
}

/** The answer of `read.lua`: the index of archived segments, and entries of the stream, which come after them. */
function toPage(reply: unknown): EventPage & { segments: Segment[] } {
  const [index, rows, numbers, more] = reply as [Buffer, Buffer[][], Buffer[], Buffer];
  const names = toMetricNumbers(numbers);
  const entries = toStoredEntries(rows).map((entry) => toStreamEntry(entry, names));
  return { segments: readSegments(index.toString()), entries, more: more.length > 0 };
}

/** Archived entries. The names of their metrics stay in the store as long as the record. */
export async function toEntries(
  { redis, keys }: StoreContext,
  id: string,
  raw: readonly RawEntry[],
): Promise<StreamEntry[]> {
  const stored = raw.map(({ id: entry, fields }) => ({
    id: entry,
    at: fields[3]!.toString(),
    event: fields[5]!.toString(),
    values: fields[6]?.toString() === 'm' ? fields[7] : undefined,
  }));
  const isNamed = stored.every(({ values }) => values === undefined);
  const numbers = isNamed ? {} : await guarded(redis.hgetall(keys.metricNumbers(id)));
  const names = toMetricNumbers(Object.entries(numbers).flat());
  return stored.map((entry) => toStreamEntry(entry, names));
}

async function logPosition(
  { run }: StoreContext,
  id: string,
  of: { line: number } | { entry: string },
): Promise<LogPlace> {
  const asked = 'line' in of ? ['line', of.line] : ['entry', of.entry];
  const reply = (await run('find-line', [id, ...asked])) as [string, string, string, string];
  const [entry, before, lines, bytes] = reply;
  return {
    entry: entry === '' ? null : entry,
    before: Number(before),
    lines: Number(lines),
    bytes: Number(bytes),
  };
}
