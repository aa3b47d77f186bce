import { createHash } from 'node:crypto';
import { NOT_VERIFIABLE } from 'echelon-verify/report';
import { EchelonError } from '../../core/errors.ts';
import type { BatchPartEvent, ControllerEvent } from '../../core/events.ts';
import { compareIds, readSegments } from '../archive/archive-segments.ts';
import type { StoreContext } from '../context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import { toBatch } from './record.ts';
import { type Counted, replaceable } from './stored-report.ts';
import type { BatchRecord, PendingLease } from './types.ts';

/** Parts of a batch that one reading step holds in memory. */
const PARTS_PER_READ = 32;

/** Recorded batches and their reports. */
export function createBatches(context: StoreContext) {
  return {
    get: (id: string, attempt: number, batch: number) => load(context, id, `${attempt}:${batch}`),

    /** The serialized batch, joined from its parts (stream or archive) and checked against its digest. */
    async bytes(record: BatchRecord): Promise<Uint8Array> {
      try {
        return await readBytes(context, record);
      } catch (error) {
        return await readRetained(context, record, error);
      }
    },

    /** Batches with their reports in order, after `after`; `more`: further ones exist. */
    page: (id: string, page: { after?: { attempt: number; batch: number }; limit: number }) =>
      pageOf(context, id, page),

    ...createPending(context),
    /**
     * Stores the report, its event and the counters, once. A second report of the same batch is ignored ('known'). Exception:
     * it replaces a first report of `not-verifiable`, or one that cannot be read, and its event says so.
     */
    report: (
      record: BatchRecord,
      event: Extract<ControllerEvent, { type: 'verification' }>,
      report: unknown,
    ) => storeReport(context, record, { event, report }),
    /** Has the batches verified again that could not be verified, or whose reports cannot be read; returns their number. */
    verifyAgain: (id: string) => verifyAgain(context, id),
  };
}

/** Reports that one step reads: a report has up to some kB for each row. */
const REPORTS_PER_CALL = 100;

async function verifyAgain({ redis, keys, run }: StoreContext, id: string): Promise<number> {
  const pending = new Set<string>();
  let cursor = '0';
  do {
    const [next, found] = await guarded(redis.hscan(keys.reports(id), cursor, 'COUNT', REPORTS_PER_CALL));
    const fields: string[] = [];
    for (let at = 0; at < found.length; at += 2) {
      if (replaceable(found[at + 1]!) !== undefined) fields.push(found[at]!);
    }
    if (fields.length > 0) await run('verify-again', [id, ...fields]);
    for (const field of fields) pending.add(field);
    cursor = next;
  } while (cursor !== '0');
  return pending.size;
}

async function load(
  { redis, keys }: StoreContext,
  experiment: string,
  field: string,
): Promise<BatchRecord | undefined> {
  const [row, report] = (await runAll(
    redis.pipeline().hget(keys.batches(experiment), field).hget(keys.reports(experiment), field),
  )) as [string | null, string | null];
  return row === null ? undefined : toBatch({ experiment, field }, row, report);
}

/** The batches without a report. */
function createPending(context: StoreContext) {
  const { redis, keys, run } = context;
  return {
    /**
     * Takes up to `limit` batches that have no report and no valid lease. Taking does not count as a start, because its answer
     * may be lost.
     */
    async takePending(limit: number, { holder, leaseMs }: PendingLease): Promise<BatchRecord[]> {
      const answer = (await run('take-pending', [limit, leaseMs, holder])) as string[];
      const records = await Promise.all(
        answer.map(async (member, at) => {
          if (at % 2 > 0) return undefined;
          const colon = member.indexOf(':');
          const record = await load(context, member.slice(0, colon), member.slice(colon + 1));
          return record && { ...record, deaths: Number(answer[at + 1]) };
        }),
      );
      return records.filter((record) => record !== undefined);
    },

    /**
     * Records that the verification of a batch begins: if the lease now expires, the process died of it (`deaths`). False if
     * the batch needs no verification any more.
     */
    async beginPending(record: BatchRecord, { holder, leaseMs }: PendingLease): Promise<boolean> {
      const answer = await run('hold-pending', [leaseMs, holder, 'begin', memberOf(record)]);
      return (answer as number[])[0] === 1;
    },

    /** Renews the lease of batches. */
    async renewPending(records: readonly BatchRecord[], { holder, leaseMs }: PendingLease): Promise<void> {
      if (records.length > 0) await run('hold-pending', [leaseMs, holder, 'hold', ...records.map(memberOf)]);
    },

    /** Releases batches: they can be taken after `restMs`, and the start of their verification no longer counts. */
    async returnPending(
      records: readonly BatchRecord[],
      { holder, restMs }: { holder: string; restMs: number },
    ): Promise<void> {
      if (records.length > 0) await run('give-back-pending', [holder, restMs, ...records.map(memberOf)]);
    },

    backlog: () => guarded(redis.zcard(keys.pending)),
  };
}

async function storeReport(
  { redis, keys, run }: StoreContext,
  { experiment, attempt, batch }: BatchRecord,
  { event, report }: { event: Extract<ControllerEvent, { type: 'verification' }>; report: unknown },
): Promise<'stored' | 'replaced' | 'known'> {
  const field = `${attempt}:${batch}`;
  const { exact, rounding, wrong, unverifiable, errors } = event;
  const unreadable = errors.includes(NOT_VERIFIABLE) ? 1 : 0;
  const found = { exact, rounding, wrong, unverifiable, errors: errors.length, unreadable };
  const send = async (before?: { report: string; counted: Counted }) => {
    const stated = { experiment, batch: field, found, before };
    return await run('report', [JSON.stringify(stated), JSON.stringify(report), JSON.stringify(event)]);
  };
  let outcome = await send();
  if (outcome === 'known' && unreadable === 0) {
    const before = await guarded(redis.hget(keys.reports(experiment), field));
    const counted = before === null ? undefined : replaceable(before);
    if (before !== null && counted !== undefined) outcome = await send({ report: before, counted });
  }
  if (outcome === 'missing') {
    throw new EchelonError('not-found', `Attempt ${attempt} of ${experiment} has no batch ${batch}`);
  }
  return outcome as 'stored' | 'replaced' | 'known';
}

/** A batch's name in the set of pending batches. */
function memberOf({ experiment, attempt, batch }: BatchRecord): string {
  return `${experiment}:${attempt}:${batch}`;
}

/** Reads a retained batch, which has an object of its own after retention deleted the parts. Otherwise throws `error`. */
async function readRetained(
  { redis, keys, archive }: StoreContext,
  { experiment, attempt, batch, digest }: BatchRecord,
  error: unknown,
): Promise<Uint8Array> {
  const readable = error instanceof EchelonError && ['not-found', 'not-verifiable'].includes(error.code);
  if (!readable || !(await guarded(redis.hget(keys.experiment(experiment), 'batchesExpired')))) throw error;
  try {
    return await archive.get(experiment, digest);
  } catch (cause) {
    if (!(cause instanceof EchelonError) || cause.code !== 'not-found') throw cause;
    throw new EchelonError(
      'expired',
      `The bytes of batch ${batch} of attempt ${attempt} of ${experiment} were deleted by the retention of its project`,
    );
  }
}

async function readBytes(context: StoreContext, record: BatchRecord): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const { fields } of entriesOf(context, record)) {
    const part = await partOf(context, record, fields);
    if (part) parts.push(part);
  }
  const bytes = Buffer.concat(parts);
  if (createHash('sha256').update(bytes).digest('hex') !== record.digest) {
    throw new EchelonError(
      'not-verifiable',
      `Batch ${record.batch} of attempt ${record.attempt} of ${record.experiment} does not have its digest`,
    );
  }
  return bytes;
}

/** The entries between the batch's first and last part, from the stream or the archive. */
async function* entriesOf(
  { redis, keys, archived }: StoreContext,
  { experiment, firstEntry, lastEntry }: BatchRecord,
): AsyncGenerator<{ fields: readonly Buffer[] }> {
  for (let from = firstEntry; ; ) {
    // In this order: a stream that is emptied before its entries are read is then known to be archived.
    const [entries, index] = (await runAll(
      redis
        .pipeline()
        .xrangeBuffer(keys.events(experiment), from, lastEntry, 'COUNT', PARTS_PER_READ)
        .hget(keys.experiment(experiment), 'segments'),
    )) as [[Buffer, Buffer[]][], string | null];
    const segments = readSegments(index);
    const end = segments.at(-1)?.last;
    const after = from.startsWith('(') ? from.slice(1) : undefined;
    if (end !== undefined && compareIds(end, after ?? firstEntry) >= 0 && after !== end) {
      for await (const entry of archived.between(experiment, segments, after ?? firstEntry, lastEntry)) {
        if (entry.id !== after) yield entry;
      }
      if (compareIds(end, lastEntry) >= 0) return;
      // The rest is in the live stream.
      from = `(${end}`;
      continue;
    }
    for (const [, fields] of entries) yield { fields };
    const last = entries.at(-1);
    if (entries.length < PARTS_PER_READ || !last) return;
    from = `(${last[0].toString('latin1')}`;
  }
}

/** The bytes of an entry that is a part of this batch; logs and others may lie between the parts. */
async function partOf(
  context: StoreContext,
  record: BatchRecord,
  fields: readonly Buffer[],
): Promise<Uint8Array | undefined> {
  const [, type, , , , event, kind, value] = fields;
  if (type?.toString() !== 'batch' || !event || !kind || !value) return undefined;
  if ((JSON.parse(event.toString()) as BatchPartEvent).batch !== record.batch) return undefined;
  return kind.toString() === 'b'
    ? value
    : await context.archive.get(record.experiment, value.toString('latin1'));
}

async function pageOf(
  context: StoreContext,
  id: string,
  { after, limit }: { after?: { attempt: number; batch: number }; limit: number },
): Promise<{ items: BatchRecord[]; more: boolean }> {
  const { redis, keys } = context;
  if (limit <= 0) return { items: [], more: false };
  const from = after === undefined ? -1 : numberOf(after);
  const numbers = (await placesIn(context, keys.batches(id))).filter((number) => number > from).sort();
  const page = Array.from(numbers.subarray(0, limit), fieldOf);
  if (page.length === 0) return { items: [], more: false };
  const [rows, reports] = (await runAll(
    redis
      .pipeline()
      .hmget(keys.batches(id), ...page)
      .hmget(keys.reports(id), ...page),
  )) as (string | null)[][];
  const items = page.flatMap((field, at) => {
    const row = rows?.[at];
    return row ? [toBatch({ experiment: id, field }, row, reports?.[at])] : [];
  });
  return { items, more: numbers.length > limit };
}

/** Batches of one attempt are numbered below it. */
const MAX_BATCHES = 2 ** 32;
/** Fields that one step reads of a hash, which may be large. */
const FIELDS_PER_READ = 1_000;

/** A number that orders all batches of an experiment. */
function numberOf({ attempt, batch }: { attempt: number; batch: number }): number {
  return attempt * MAX_BATCHES + batch;
}

function fieldOf(place: number): string {
  return `${Math.floor(place / MAX_BATCHES)}:${place % MAX_BATCHES}`;
}

/** The order numbers of all batches in the hash, unsorted. */
async function placesIn({ redis }: StoreContext, key: string): Promise<Float64Array> {
  const places = new Set<number>();
  let cursor = '0';
  do {
    const [next, page] = await guarded(redis.hscan(key, cursor, 'COUNT', FIELDS_PER_READ));
    for (let at = 0; at < page.length; at += 2) {
      const [attempt, batch] = page[at]!.split(':').map(Number) as [number, number];
      places.add(numberOf({ attempt, batch }));
    }
    cursor = next;
  } while (cursor !== '0');
  return Float64Array.from(places);
}
