import { createHash } from 'node:crypto';
import { EchelonError } from '../../core/errors.ts';
import type { BatchPartEvent } from '../../core/events.ts';
import { compareIds, readSegments } from '../archive/archive-segments.ts';
import { toBatch } from '../experiments/record.ts';
import type { StoreContext } from '../redis/context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import type { RunScript } from '../redis/scripts.ts';
import type { BatchRecord, BatchStore } from './contract.ts';

/** Parts of a batch that one reading step holds in memory. */
const PARTS_PER_READ = 32;

/** The error code of a report that could not verify its batch (see batches/lua/report.lua). */
const NOT_VERIFIABLE = 'not-verifiable';

/** See {@link BatchStore}. */
export function createBatches(context: StoreContext): Omit<BatchStore, 'page'> {
  const { redis, keys, run } = context;
  return {
    async list(id) {
      const [rows, reports] = (await runAll(
        redis.pipeline().hgetall(keys.batches(id)).hgetall(keys.reports(id)),
      )) as [Record<string, string>, Record<string, string>];
      return Object.entries(rows)
        .map(([field, row]) => toBatch({ experiment: id, field }, row, reports[field]))
        .sort((a, b) => a.attempt - b.attempt || a.batch - b.batch);
    },

    get: (id, attempt, batch) => load(context, id, `${attempt}:${batch}`),

    async bytes(record) {
      try {
        return await readBytes(context, record);
      } catch (error) {
        return await readRetained(context, record, error);
      }
    },

    ...createPending(context),
    report: (record, event, report) => storeReport(run, record, { event, report }),
    verifyAgain: (id) => verifyAgain(context, id),
  };
}

/** Batches that one step makes pending. */
const PENDING_PER_CALL = 500;

async function verifyAgain({ redis, keys, run }: StoreContext, id: string): Promise<number> {
  const reports = await guarded(redis.hgetall(keys.reports(id)));
  const fields = Object.entries(reports).flatMap(([field, text]) => {
    const { findings = [] } = JSON.parse(text) as { findings?: { code: string }[] };
    return findings.some(({ code }) => code === NOT_VERIFIABLE) ? [field] : [];
  });
  for (let at = 0; at < fields.length; at += PENDING_PER_CALL)
    await run('verify-again', [id, ...fields.slice(at, at + PENDING_PER_CALL)]);
  return fields.length;
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
function createPending(
  context: StoreContext,
): Pick<BatchStore, 'takePending' | 'beginPending' | 'renewPending' | 'returnPending' | 'backlog'> {
  const { redis, keys, run } = context;
  return {
    async takePending(limit, { holder, leaseMs }) {
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

    async beginPending(record, { holder, leaseMs }) {
      const answer = await run('hold-pending', [leaseMs, holder, 'begin', memberOf(record)]);
      return (answer as number[])[0] === 1;
    },

    async renewPending(records, { holder, leaseMs }) {
      if (records.length > 0) await run('hold-pending', [leaseMs, holder, 'hold', ...records.map(memberOf)]);
    },

    async returnPending(records, { holder, restMs }) {
      if (records.length > 0) await run('give-back-pending', [holder, restMs, ...records.map(memberOf)]);
    },

    backlog: () => guarded(redis.zcard(keys.pending)),
  };
}

async function storeReport(
  run: RunScript,
  { experiment, attempt, batch }: Parameters<BatchStore['report']>[0],
  {
    event,
    report,
  }: { event: Parameters<BatchStore['report']>[1]; report: Parameters<BatchStore['report']>[2] },
): ReturnType<BatchStore['report']> {
  const outcome = await run('report', [
    experiment,
    `${attempt}:${batch}`,
    JSON.stringify(report),
    JSON.stringify(event),
    event.exact,
    event.rounding,
    event.wrong,
    event.unverifiable,
    event.errors.length,
    event.errors.includes(NOT_VERIFIABLE) ? 1 : 0,
  ]);
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
