import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { gathering } from './gathering.ts';
import { connectToServe, type Looked, serveQueue, within } from './looking.ts';

/*
 * What always holds: a job is an experiment's place in line and nothing more. It carries only the experiment's id;
 * losing it, repeating it or letting its lock lapse changes when somebody looks, never what happens.
 */

/** Job data: a pointer to the record. */
export interface PlaceInLine {
  experiment: string;
}

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
  /** Adds the experiment's job where it has none, or only one that was done with. False: it stands in the line. */
  ensure(experiment: string, priority: number): Promise<boolean>;
  /** Gives an experiment's job another priority, where it has one. */
  move(experiment: string, priority: number): Promise<void>;
  /** Takes an experiment's job out of the line; one that is active stays. */
  leave(experiment: string): Promise<void>;
  /** Experiments whose jobs wait for their turn: `count` from place `from` on of each kind, parked ones are one. */
  slice(from: number, count: number): Promise<string[]>;
  /** Those of them that have no job that waits for its turn; the jobs of some may be active. */
  missing(experiments: readonly string[]): Promise<string[]>;
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
const DONE_WITH: ReadonlySet<string> = new Set(['completed', 'failed', 'unknown']);
const KEPT_JOBS = { count: 100, age: 24 * 3600 };
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

  const joining = gathering(async (places: { experiment: string; priority: number }[]) => {
    await queue.addBulk(
      places.map(({ experiment, priority }) => ({
        name: 'experiment',
        data: { experiment },
        opts: jobOptions(experiment, priority),
      })),
    );
  }, MOST_AT_ONCE);
  const join = (experiment: string, priority: number) => joining.add({ experiment, priority });

  async function ensure(experiment: string, priority: number): Promise<boolean> {
    const job = await queue.getJob(experiment);
    if (job !== undefined) {
      if (!DONE_WITH.has(await job.getState())) return false;
      // BullMQ would take a kept job for the same place in line and add nothing.
      await job.remove().catch(ignore);
    }
    await join(experiment, priority);
    return true;
  }

  return {
    queues: [queue],
    join,
    ensure,
    slice: (from, count) => queue.getRanges(['wait', 'prioritized', 'delayed'], from, from + count - 1, true),
    async missing(experiments) {
      if (experiments.length === 0) return [];
      const [ready, parked] = await Promise.all(
        ['prioritized', 'delayed'].map((state) => connection.zmscore(queue.toKey(state), ...experiments)),
      );
      return experiments.filter((_, at) => ready![at] === null && parked![at] === null);
    },
    counts: () => queue.getJobCounts(),
    async move(experiment, priority) {
      const job = await queue.getJob(experiment);
      await job?.changePriority({ priority: LOWEST_PRIORITY - priority });
    },
    async leave(experiment) {
      await queue.remove(experiment).catch(ignore);
    },
    serve: (handle, options) => serve(handle, { ...options, prefix: shared.prefix, redis, onError }),
    async close() {
      await joining.idle();
      await queue.close();
      // With Redis away it would try to connect for ever.
      await connection.quit().catch(() => connection.disconnect());
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
  options: { concurrency: number; redis: Redis; onError: (error: Error) => void; prefix: string },
): LineServer {
  const { redis, ...shared } = options;
  const connection = connectToServe(redis, options.onError);
  const look = ({ experiment }: PlaceInLine) => handle(experiment);
  const server = serveQueue(LINE, look, { ...shared, connection });
  return {
    async close(graceMs) {
      if (!(await within(graceMs, server.close()))) await server.close(true);
      connection.disconnect();
    },
  };
}
