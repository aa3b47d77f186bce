import { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { gathering } from './gathering.ts';
import { createLook, LOOKING, type Looked, within } from './looking.ts';

/*
 * What always holds: a job is an experiment's place in line and nothing more. It carries only the experiment's id;
 * losing it, repeating it or letting its lock lapse changes when somebody looks, never what happens.
 */

/** Job data: a pointer to the record. */
export interface PlaceInLine {
  experiment: string;
}

/**
 * Where `ensure` found an experiment's job. `ready`: a BullMQ worker will take it at once. `active`: one has taken it
 * (and may have died since).
 */
export type JobPlace = 'ready' | 'active';

/** A running BullMQ worker of the line. */
export interface LineServer {
  /** Takes no more jobs, waits for those in hand for `graceMs`, then leaves them. */
  close(graceMs: number): Promise<void>;
}

/** The line of waiting experiments, as BullMQ and its board know it. */
export interface Line {
  /** For the queue board; read-only there. */
  queues: Queue[];
  /**
   * Puts an experiment into the line; once there, a second time changes nothing. Many that are asked for at a time go
   * in few calls.
   */
  join(experiment: string, priority: number): Promise<void>;
  /** {@link Line.join} of many in one call. */
  joinAll(places: readonly { experiment: string; priority: number }[]): Promise<void>;
  /** Makes sure that the experiment has a job that a BullMQ worker takes now: wakes a parked one, adds a missing one. */
  ensure(experiment: string, priority: number): Promise<JobPlace>;
  /** Gives an experiment's job another priority, where it has one. */
  move(experiment: string, priority: number): Promise<void>;
  /** Takes an experiment's job out of the line; one that is active stays. */
  leave(experiment: string): Promise<void>;
  /** Ids of all jobs that stand in the line, active ones included. */
  ids(): Promise<Set<string>>;
  /** Number of jobs by BullMQ's own states. */
  counts(): Promise<Record<string, number>>;
  /** Starts a BullMQ worker that hands each place in line to `handle`. A `handle` that throws is asked again. */
  serve(handle: (experiment: string) => Promise<Looked>, options: { concurrency: number }): LineServer;
  close(): Promise<void>;
}

/** Name of the BullMQ queue. */
export const LINE = 'experiments';

/** BullMQ serves lower numbers first and treats 0 as "none", which it puts before all others. */
const LOWEST_PRIORITY = 101;
const KEPT_JOBS = { count: 100, age: 24 * 3600 };
const IN_LINE = ['wait', 'prioritized', 'delayed', 'active'] as const;
const PAGE = 1000;
/** Jobs of one call, which nothing else of Redis comes between: a few ms. */
const MOST_AT_ONCE = 50;

/**
 * The line in the Redis behind `redis` (whose options are copied for connections of its own: a caller that must fail
 * fast gives one that does), under the store's hash tag `prefix`, e.g. "{echelon}".
 */
export function createLine({
  redis,
  prefix,
  onError,
}: {
  redis: Redis;
  prefix: string;
  onError: (error: Error) => void;
}): Line {
  const connection = redis.duplicate();
  connection.on('error', onError);
  const shared = { prefix: `${prefix}:bull`, skipWaitingForReady: true };
  const queue = new Queue<PlaceInLine>(LINE, { ...shared, connection, skipVersionCheck: true });
  queue.on('error', onError);

  async function joinAll(places: readonly { experiment: string; priority: number }[]): Promise<void> {
    await queue.addBulk(
      places.map(({ experiment, priority }) => ({
        name: 'experiment',
        data: { experiment },
        opts: jobOptions(experiment, priority),
      })),
    );
  }

  const joining = gathering(joinAll, MOST_AT_ONCE);
  const join = (experiment: string, priority: number) => joining.add({ experiment, priority });

  async function ensure(experiment: string, priority: number): Promise<JobPlace> {
    const job = await queue.getJob(experiment);
    const state = job === undefined ? 'unknown' : await job.getState();
    if (state === 'active') return 'active';
    if (state === 'waiting' || state === 'prioritized') return 'ready';
    if (job !== undefined && state === 'delayed') {
      // It may have been woken by another dispatcher in between; then there is nothing to do.
      await job.promote().catch(ignore);
      return 'ready';
    }
    // A kept job of an earlier attempt: BullMQ would take it for the same place in line and add nothing.
    if (job !== undefined) await job.remove().catch(ignore);
    await join(experiment, priority);
    return 'ready';
  }

  async function ids(): Promise<Set<string>> {
    const found = new Set<string>();
    for (const state of IN_LINE)
      for (let start = 0; ; start += PAGE) {
        const page = await queue.getRanges([state], start, start + PAGE - 1, true);
        for (const id of page) found.add(id);
        if (page.length < PAGE) break;
      }
    return found;
  }

  return {
    queues: [queue],
    join,
    joinAll,
    ensure,
    ids,
    counts: () => queue.getJobCounts(),
    async move(experiment, priority) {
      const job = await queue.getJob(experiment);
      await job?.changePriority({ priority: LOWEST_PRIORITY - priority });
    },
    async leave(experiment) {
      await queue.remove(experiment).catch(ignore);
    },
    serve: (handle, options) => serve(handle, { ...options, ...shared, redis, onError }),
    async close() {
      await joining.idle();
      await queue.close();
      await connection.quit().catch(ignore);
    },
  };
}

function jobOptions(experiment: string, priority: number) {
  return {
    jobId: experiment,
    priority: LOWEST_PRIORITY - priority,
    removeOnComplete: KEPT_JOBS,
    removeOnFail: KEPT_JOBS,
  };
}

/** For calls whose failure leaves the job where it is, which the next look at the line mends. */
function ignore(): void {}

function serve(
  handle: (experiment: string) => Promise<Looked>,
  {
    concurrency,
    redis,
    onError,
    prefix,
  }: { concurrency: number; redis: Redis; onError: (error: Error) => void; prefix: string },
): LineServer {
  const connection = redis.duplicate({
    maxRetriesPerRequest: null,
    enableOfflineQueue: true,
    commandTimeout: undefined,
  } as Parameters<Redis['duplicate']>[0]);
  connection.on('error', onError);
  const look = createLook<PlaceInLine>(({ experiment }) => handle(experiment), onError);
  const server = new Worker<PlaceInLine>(LINE, look, {
    connection,
    prefix,
    concurrency,
    ...LOOKING,
  });
  server.on('error', onError);
  return {
    async close(graceMs) {
      if (!(await within(graceMs, server.close()))) await server.close(true);
      connection.disconnect();
    },
  };
}
