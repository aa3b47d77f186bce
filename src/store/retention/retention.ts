import { EchelonError } from '../../core/errors.ts';
import { RETENTION_STAGES, type RetentionStage } from '../../schemas/retention.ts';
import { digestOf } from '../archive/archive-keys.ts';
import { readSegments } from '../archive/archive-segments.ts';
import { toAttempts } from '../attempts/record.ts';
import type { createBatches } from '../batches/batches.ts';
import { toBatch } from '../batches/record.ts';
import { storeTime } from '../clock/clock.ts';
import type { StoreContext } from '../context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import type { Fields } from '../redis/fields.ts';

/** What retention will delete of a project at a stage. */
interface DueFigures {
  experiments: number;
  /** Their bytes in the archive; without `complete`, only of those that ended first. */
  bytes: number;
  complete: boolean;
  /** The ones that ended first. */
  first: string[];
  /** Batches of those counted in `bytes` that rules retain. */
  kept: number;
}

/** How long the lease of retention lasts. It is renewed each half minute. */
export const RETENTION_LEASE_MS = 600_000;

/** An experiment of which clusters may still keep event logs. */
export interface Forgetting {
  id: string;
  /** null if it was deleted, so that every cluster has to be asked. */
  record: {
    project: string;
    /** ms. */
    endedAt: number;
    /** The highest attempt by cluster. */
    attempts: ReadonlyMap<string, number>;
  } | null;
}

/** MAX experiments whose bytes one preview sums. */
const MAX_SUMMED = 10_000;
/** MAX experiments that a preview names. */
const NAMED = 10;
/** MAX tries if rules retain further batches meanwhile; the next round tries again. */
const TRIES = 3;

/** Suffixes of the keys of a sweep. */
const SWEEP_KEYS = ['children', 'experiments', 'runs', 'settled', 'after', 'shared', 'recorded'] as const;

type Batches = ReturnType<typeof createBatches>;

/** Retention: deletes expired data. */
export function createRetention(context: StoreContext, batches: Batches) {
  const { redis, keys, run } = context;
  return {
    /**
     * Takes up to `limit` experiments that ended at least `afterMs` ago and of which clusters may still keep event logs;
     * they come back after `leaseMs`.
     */
    takeForgetting: (options: { limit: number; leaseMs: number; afterMs: number }) =>
      takeForgetting(context, options),

    /** Returns experiments of `takeForgetting` (called with `afterMs`) to the list, due after `laterMs`. */
    async forgetLater(
      ids: readonly string[],
      { laterMs, afterMs }: { laterMs: number; afterMs: number },
    ): Promise<void> {
      if (ids.length === 0) return;
      // An experiment is due again when its score is `afterMs` old.
      const score = (await storeTime(context)) + laterMs - afterMs;
      await run('put-due', ['forgetting', 'XX', ...ids.flatMap((id) => [score, id])]);
    },

    /** Number of a project's listed experiments that ended before `endedBefore`, among about 10,000 at most. */
    forgettingFigures: (project: string, endedBefore: number) =>
      forgettingFigures(context, project, endedBefore),

    /** Records that no cluster has event logs of these any more. */
    async forgotten(ids: readonly string[]): Promise<void> {
      if (ids.length > 0) await guarded(redis.zrem(keys.forgetting, ...ids));
    },

    /**
     * Has nothing deleted from the archive for `ms` from now, for a backup. `again`: only if this still holds from an earlier
     * call; false if it does not.
     */
    async pause(ms: number, { again = false } = {}): Promise<boolean> {
      const set = again ? redis.set(keys.backup, '1', 'PX', ms, 'XX') : redis.set(keys.backup, '1', 'PX', ms);
      return (await guarded(set)) === 'OK';
    },

    /** Takes or renews the lease of retention for this dispatcher; false if another has it. `leaseMs` 0 releases it. */
    async hold(dispatcher: string, leaseMs: number): Promise<boolean> {
      return (await run('hold-retention', [dispatcher, leaseMs])) === 1;
    },

    /** The dispatcher with the lease of retention, and how long the lease lasts without another renewal; null: none has it. */
    async holder(): Promise<{ dispatcher: string; leftMs: number } | null> {
      const [dispatcher, leftMs] = (await runAll(
        redis.pipeline().get(keys.retention).pttl(keys.retention),
      )) as [string | null, number];
      return dispatcher === null ? null : { dispatcher, leftMs };
    },

    /** Experiments of a project that ended before `endedBefore` and have `stage` deleted next, in the order of their ends. */
    async due(
      stage: RetentionStage,
      project: string,
      { endedBefore, limit }: { endedBefore: number; limit: number },
    ): Promise<string[]> {
      const key = keys.due(stage, project);
      return await guarded(redis.zrangebyscore(key, '-inf', `(${endedBefore}`, 'LIMIT', 0, limit));
    },

    /** What retention would delete of a project at a stage, including experiments that are at an earlier stage. */
    dueFigures: (stage: RetentionStage, project: string, endedBefore: number) =>
      dueFigures(context, { stage, project, endedBefore }),

    /**
     * Deletes `stage` of a finished experiment. Batches that rules retain are not deleted, nor are their reports and the
     * record that has any. After a crash it is still due, and a repetition finishes. `waiting`: it is not archived.
     */
    expire: (stage: RetentionStage, id: string) => expire(context, batches, { stage, id }),

    /**
     * Deletes sweeps of a project that ended before `endedBefore` and whose children are all deleted. `cursor` is null for the
     * first call; `next` is null at the end.
     */
    async expireSweeps(
      project: string,
      { endedBefore, limit, cursor }: { endedBefore: number; limit: number; cursor: string | null },
    ): Promise<{ deleted: number; next: string | null }> {
      const reply = await run('expire-sweeps', [project, endedBefore, limit, cursor ?? '', ...SWEEP_KEYS]);
      const [deleted, next] = reply as [number, string];
      return { deleted, next: next === '' ? null : next };
    },

    /**
     * Deletes the archived objects of up to `limit` deleted experiments and comparisons; returns their number. 0 during a backup, whose
     * snapshot may still have them.
     */
    collectGarbage: (limit: number) => collectGarbage(context, limit),
  };
}

async function collectGarbage({ redis, keys, archive }: StoreContext, limit: number): Promise<number> {
  // In this order: without a backup now, these were deleted before the snapshot of any later one.
  const chosen = redis.pipeline().srandmember(keys.garbage, limit).exists(keys.backup);
  const [ids, backups] = (await runAll(chosen)) as [string[], number];
  if (backups > 0) return 0;
  for (const id of ids) {
    await archive.remove(id);
    await guarded(redis.srem(keys.garbage, id));
  }
  return ids.length;
}

async function takeForgetting(
  { redis, keys, run }: StoreContext,
  { limit, leaseMs, afterMs }: { limit: number; leaseMs: number; afterMs: number },
): Promise<Forgetting[]> {
  const ids = (await run('take-archiving', [limit, leaseMs, afterMs, 'forgetting'])) as string[];
  if (ids.length === 0) return [];
  const looks = redis.pipeline();
  for (const id of ids) looks.hgetall(keys.attempts(id)).hmget(keys.experiment(id), 'project', 'endedAt');
  const replies = await runAll(looks);
  return ids.map((id, at) => {
    const [project, endedAt] = replies[2 * at + 1] as (string | null)[];
    const attempts = highestByCluster(replies[2 * at] as Fields);
    return { id, record: project ? { project, endedAt: Number(endedAt), attempts } : null };
  });
}

async function forgettingFigures({ redis, keys }: StoreContext, project: string, endedBefore: number) {
  const ids = await guarded(redis.zrange(keys.forgetting, '0', String(MAX_SUMMED - 1)));
  const looks = redis.pipeline();
  for (const id of ids) looks.hmget(keys.experiment(id), 'project', 'endedAt');
  const rows = ids.length === 0 ? [] : ((await runAll(looks)) as (string | null)[][]);
  const due = rows.filter(([owner, endedAt]) => owner === project && Number(endedAt) < endedBefore);
  return { experiments: due.length, complete: ids.length < MAX_SUMMED };
}

function highestByCluster(fields: Fields): Map<string, number> {
  // In the order of the attempts: the last one of a cluster is the highest.
  return new Map(toAttempts(fields).map(({ cluster, attempt }) => [cluster, attempt]));
}

async function dueFigures(
  { redis, keys }: StoreContext,
  { stage, project, endedBefore }: { stage: RetentionStage; project: string; endedBefore: number },
): Promise<DueFigures> {
  const stages = RETENTION_STAGES.slice(0, RETENTION_STAGES.indexOf(stage) + 1);
  const end = `(${endedBefore}`;
  const asking = redis.pipeline();
  for (const one of stages) {
    const key = keys.due(one, project);
    asking.zcount(key, '-inf', end);
    asking.zrangebyscore(key, '-inf', end, 'WITHSCORES', 'LIMIT', 0, MAX_SUMMED);
  }
  const replies = await runAll(asking);
  const experiments = replies.reduce(
    (sum: number, reply, at) => (at % 2 === 0 ? sum + Number(reply) : sum),
    0,
  );
  const ids = (replies.filter((_reply, at) => at % 2 === 1) as string[][])
    .flatMap((pairs) =>
      pairs.flatMap((id, at) => (at % 2 === 0 ? [{ id, endedAt: Number(pairs[at + 1]) }] : [])),
    )
    .sort((a, b) => a.endedAt - b.endedAt)
    .slice(0, MAX_SUMMED)
    .map(({ id }) => id);
  const sizes = redis.pipeline();
  const fields = stage === 'batches' ? ['partBytes', 'longBytes'] : ['eventBytes'];
  for (const id of ids) sizes.hmget(keys.experiment(id), ...fields).scard(`${keys.experiment(id)}:kept`);
  const rows = ids.length === 0 ? [] : await runAll(sizes);
  let bytes = 0;
  let kept = 0;
  rows.forEach((row, at) => {
    if (at % 2 === 1) kept += Number(row);
    else for (const size of row as (string | null)[]) bytes += Number(size ?? 0);
  });
  return { experiments, bytes, complete: experiments <= ids.length, first: ids.slice(0, NAMED), kept };
}

/**
 * In this order: retained batches get objects of their own, the record marks the rest as deleted, the rest is deleted, and
 * the experiment is no longer due.
 */
async function expire(
  context: StoreContext,
  batches: Batches,
  { stage, id }: { stage: RetentionStage; id: string },
): Promise<'expired' | 'waiting' | 'gone'> {
  const { redis, keys, run, archive } = context;
  const project = await guarded(redis.hget(keys.experiment(id), 'project'));
  const outcome =
    stage === 'records' ? await expireRecord(context, id) : await mark(context, batches, { stage, id });
  if (outcome === 'waiting') return outcome;
  if (outcome === 'gone') {
    // The delete also removed it from the list of due experiments.
    await guarded(redis.sadd(keys.garbage, id));
    return outcome;
  }
  if (stage !== 'records') await archive.remove(id, await stillNeeded(context, id));
  const next = RETENTION_STAGES[RETENTION_STAGES.indexOf(stage) + 1] ?? '';
  if (project !== null) await run('end-expiry', [id, project, stage, next]);
  return 'expired';
}

async function expireRecord({ run }: StoreContext, id: string): Promise<'marked' | 'waiting' | 'gone'> {
  const outcome = await run('expire-record', [id]);
  if (outcome === 'not-ended') return 'waiting';
  return outcome === 'not-found' ? 'gone' : 'marked';
}

async function mark(
  context: StoreContext,
  batches: Batches,
  { stage, id }: { stage: RetentionStage; id: string },
): Promise<'marked' | 'waiting' | 'gone'> {
  const { redis, keys, run } = context;
  for (let tries = 0; tries < TRIES; tries++) {
    const kept = await guarded(redis.smembers(`${keys.experiment(id)}:kept`));
    for (const field of kept) await keepWhole(context, batches, { id, field });
    const outcome = (await run('mark-expired', [id, stage, ...kept])) as
      | 'marked'
      | 'changed'
      | 'waiting'
      | 'gone';
    if (outcome !== 'changed') return outcome;
  }
  return 'waiting';
}

/** Archives a batch under its own digest, if it still exists. */
async function keepWhole(
  { redis, keys, archive }: StoreContext,
  { bytes }: Batches,
  { id, field }: { id: string; field: string },
): Promise<void> {
  const row = await guarded(redis.hget(keys.batches(id), field));
  if (row === null) return;
  try {
    const stored = await bytes(toBatch({ experiment: id, field }, row, null));
    await archive.put(id, digestOf(stored), stored);
  } catch (error) {
    // A batch that is unreadable now stays unreadable: it must not block the deletion of all others.
    if (!(error instanceof EchelonError) || error.code === 'store-unavailable') throw error;
  }
}

/** Digests of objects that are still needed: entries of the stream, the series, and retained batches. */
async function stillNeeded({ redis, keys }: StoreContext, id: string): Promise<Set<string>> {
  const [index, series, kept, rows] = (await runAll(
    redis
      .pipeline()
      .hget(keys.experiment(id), 'segments')
      .hget(keys.experiment(id), 'seriesDigest')
      .smembers(`${keys.experiment(id)}:kept`)
      .hgetall(keys.batches(id)),
  )) as [string | null, string | null, string[], Record<string, string>];
  const needed = readSegments(index).map(({ entries }) => entries.digest);
  if (series !== null) needed.push(series);
  for (const field of kept) {
    const row = rows[field];
    if (row !== undefined) needed.push(toBatch({ experiment: id, field }, row, null).digest);
  }
  return new Set(needed);
}
