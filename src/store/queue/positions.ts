import { storeTime } from '../clock/clock.ts';
import type { StoreContext } from '../context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import type { Fields } from '../redis/fields.ts';
import { toQueuedExperiment } from './queued-experiment.ts';
import type { QueuedExperiment, QueuePage, QueueState } from './types.ts';

/** The fields of a record that describe a queued experiment. */
export const QUEUED_FIELDS = [
  'state',
  'name',
  'project',
  'priority',
  'wanted',
  'gpus',
  'cpus',
  'nodes',
  'submittedAt',
  'waitReason',
  'notBefore',
  'waitsFor',
  'avoid',
  'wantedLabels',
  'nodeLabels',
  'sweep',
  'waitRank',
  'waitEstimate',
  'seq',
  'checkpoint',
  'checkpointCluster',
];

/** These experiments in their order, without those that are not queued. */
export async function readQueued(context: StoreContext, ids: readonly string[]): Promise<QueuedExperiment[]> {
  if (ids.length === 0) return [];
  const { redis, keys } = context;
  const commands = redis.pipeline();
  for (const id of ids) commands.hmget(keys.experiment(id), ...QUEUED_FIELDS);
  const [nowMs, rows] = await Promise.all([storeTime(context), runAll(commands)]);
  return ids.flatMap((id, at) => queuedOf(id, (rows[at] ?? []) as (string | null)[], nowMs));
}

/** A queued experiment from its {@link QUEUED_FIELDS}; none if it is not queued. */
export function queuedOf(id: string, row: readonly (string | null)[], nowMs: number): QueuedExperiment[] {
  const fields: Fields = {};
  QUEUED_FIELDS.forEach((name, column) => {
    const value = row[column];
    if (value !== null && value !== undefined) fields[name] = value;
  });
  if (fields.state !== 'queued') return [];
  const item = toQueuedExperiment(id, fields);
  // Compared by the server's clock, so that the scheduler needs none.
  return [item.notBefore != null && item.notBefore <= nowMs ? { ...item, notBefore: null } : item];
}

/** Experiments by their position in the queue. */
export function createPositions(context: StoreContext) {
  const { redis, keys } = context;

  async function queuedIds(limit: number, from = 0): Promise<string[]> {
    return limit <= 0 ? [] : await guarded(redis.zrange(keys.queue, String(from), String(from + limit - 1)));
  }

  return {
    /** Queued experiments in order: `limit` from position `from` on. Default: 0. */
    ids: queuedIds,

    /** Those that have a job on the board: queued, or allocated and not acquired by a dispatcher. */
    async states(ids: readonly string[]): Promise<Map<string, QueueState>> {
      if (ids.length === 0) return new Map();
      const commands = redis
        .pipeline()
        .zmscore(keys.queue, ...ids)
        .zmscore(keys.allocated, ...ids);
      const [queued, allocated] = (await runAll(commands)) as (string | null)[][];
      const states = new Map<string, QueueState>();
      for (const [at, id] of ids.entries()) {
        if (queued![at] !== null) states.set(id, 'queued');
        else if (allocated![at] !== null) states.set(id, 'allocated');
      }
      return states;
    },

    /**
     * A page of the queue, or of one project's part of it. Pages follow one another by priority and arrival, so an
     * experiment that stays queued at the same priority is on exactly one of them.
     */
    page: (page: { limit: number; project?: string; after?: string }) => pageOf(context, page),

    async first(limit: number): Promise<QueuedExperiment[]> {
      return readQueued(context, await queuedIds(limit));
    },

    /** Length of the queue, and this experiment's rank from 1 (null if it is not queued). */
    async position(id: string): Promise<{ rank: number | null; length: number }> {
      const [rank, length, projects, noted] = await runAll(
        redis
          .pipeline()
          .zrank(keys.queue, id)
          .zcard(keys.queue)
          .scard(`${keys.root}:queues`)
          .hget(keys.experiment(id), 'waitRank'),
      );
      if (rank === null) return { rank: null, length: Number(length) };
      // With several projects, the position is that of the last scheduling round.
      const position = Number(projects) > 1 && noted ? Number(noted) : Number(rank) + 1;
      return { rank: Math.min(position, Number(length)), length: Number(length) };
    },
  };
}

async function pageOf(
  context: StoreContext,
  { limit, project, after = '-inf' }: { limit: number; project?: string; after?: string },
): Promise<QueuePage> {
  const { redis, keys } = context;
  const queue = project === undefined ? keys.queue : `${keys.queue}:${project}`;
  const range = [`(${after}`, '+inf', 'WITHSCORES', 'LIMIT', 0, limit + 1] as const;
  const found = await guarded(redis.zrangebyscore(queue, ...range));
  const ids = found.filter((_, at) => at % 2 === 0).slice(0, limit);
  const [length, ...ranks] = await runAll(
    ids.reduce((all, id) => all.zrank(keys.queue, id), redis.pipeline().zcard(keys.queue)),
  );
  const rankOf = new Map(ids.map((id, at) => [id, Number(ranks[at] ?? 0) + 1]));
  const queued = (await readQueued(context, ids)).map((one) => ({
    ...one,
    position: one.rank ?? rankOf.get(one.experiment)!,
  }));
  return {
    length: Number(length),
    queued: queued.sort((a, b) => a.position - b.position),
    next: found.length > 2 * limit ? found[2 * limit - 1]! : null,
  };
}
