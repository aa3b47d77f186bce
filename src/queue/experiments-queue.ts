import { Job, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { gathering } from './gathering.ts';
import { type QueueServer, type Served, type ServeOptions, serveQueue } from './serve.ts';

/*
 * Every queued experiment has one job, whose id is the experiment's: delayed = queued; waiting = allocated, for any
 * dispatcher to receive; active = being launched. Jobs have no order and no data of their own: the record decides, and
 * whoever changed a job reads it afterwards, so that a change in between is made good. A job that is lost is added by the
 * reconciler; one that outlives its experiment is completed when its delay ends.
 */

/** The BullMQ queue of experiments. */
export interface ExperimentsQueue {
  /** For the board; read-only there. */
  queues: Queue[];
  /** Gives queued experiments their jobs; an experiment that has one keeps it. Concurrent calls are sent together. */
  enqueue(experiments: readonly string[]): Promise<void>;
  /** Lets a dispatcher receive the job of an allocated experiment; adds the job if there is none. */
  release(experiment: string): Promise<void>;
  /** Removes the jobs of experiments that ended before a dispatcher received them. An active job stays. */
  remove(experiments: readonly string[]): Promise<void>;
  /** Those of them that have no job. */
  missing(experiments: readonly string[]): Promise<string[]>;
  /** Number of jobs by BullMQ's own states. */
  counts(): Promise<Record<string, number>>;
  /** Starts a BullMQ worker that hands the experiment of each released job to `handle`. */
  serve(handle: (experiment: string) => Promise<Served>, options: ServeOptions): QueueServer;
  close(): Promise<void>;
}

/** What an experiments queue needs. */
export interface QueueParts {
  /** Its options are copied for connections of the queue's own: a caller that must fail fast gives one that does. */
  redis: Redis;
  /** The store's hash tag, e.g. "{echelon}". */
  prefix: string;
  onError(error: Error): void;
  /** Those of the experiments that are to have a job, as the store says. */
  statesOf(experiments: readonly string[]): Promise<ReadonlyMap<string, 'queued' | 'allocated'>>;
}

/** Name of the BullMQ queue. */
export const QUEUE = 'experiments';

/** A queued experiment's job is delayed by so long; whatever it was for is over then, or it is delayed again. */
const QUEUED_MS = 24 * 3600 * 1000;
/** Jobs of one call, which Redis carries out without a break: a few ms. */
const MAX_AT_ONCE = 50;
/** BullMQ's code for a job that is in another state than the one asked for, or does not exist. */
const NOT_IN_STATE = -3;

/** See {@link ExperimentsQueue}. */
export function createExperimentsQueue({ redis, prefix, onError, statesOf }: QueueParts): ExperimentsQueue {
  const connection = redis.duplicate();
  connection.on('error', onError);
  const shared = { prefix: `${prefix}:bull`, skipWaitingForReady: true };
  const queue = new Queue(QUEUE, { ...shared, connection, skipVersionCheck: true });
  queue.on('error', onError);

  async function release(experiment: string): Promise<void> {
    if (await promote(queue, experiment)) return;
    await queue.addBulk([jobOf(experiment, 0)]);
  }

  async function remove(experiments: readonly string[]): Promise<void> {
    // A locked job is active: the dispatcher that has it in hand completes it.
    await Promise.all(experiments.map((experiment) => queue.remove(experiment)));
  }

  /** Makes jobs agree with records that may have changed since the jobs were added. */
  async function agree(experiments: readonly string[]): Promise<void> {
    const states = await statesOf(experiments);
    await Promise.all([
      ...experiments.filter((id) => states.get(id) === 'allocated').map(release),
      remove(experiments.filter((id) => !states.has(id))),
    ]);
  }

  const adding = gathering(async (experiments: string[]) => {
    await queue.addBulk(experiments.map((experiment) => jobOf(experiment, QUEUED_MS)));
    await agree(experiments);
  }, MAX_AT_ONCE);

  async function enqueue(experiments: readonly string[]): Promise<void> {
    await Promise.all(experiments.map((experiment) => adding.add(experiment)));
  }

  /** An attempt may have ended with a retry while its job was active: the job for the next one was refused then. */
  async function onServed(experiment: string, served: 'complete' | 'queued'): Promise<void> {
    if (served === 'queued') return await agree([experiment]);
    const state = (await statesOf([experiment])).get(experiment);
    if (state !== undefined) await enqueue([experiment]);
  }

  return {
    queues: [queue],
    ...{ enqueue, release, remove },
    missing: (experiments) => missingJobs(queue, connection, experiments),
    counts: () => queue.getJobCounts(),
    serve: (handle, options) =>
      serveQueue(handle, {
        ...{ ...options, name: QUEUE, prefix: shared.prefix, redis, onError },
        ...{ queuedMs: QUEUED_MS, onServed },
      }),
    async close() {
      await adding.idle();
      await queue.close();
      // With Redis away it would try to connect for ever.
      await connection.quit().catch(() => connection.disconnect());
    },
  };
}

/** Those of the experiments that have no job in any state. */
async function missingJobs(
  queue: Queue,
  connection: Redis,
  experiments: readonly string[],
): Promise<string[]> {
  const commands = connection.pipeline();
  for (const experiment of experiments) commands.exists(queue.toKey(experiment));
  const replies = (await commands.exec()) ?? [];
  const failed = replies.find(([error]) => error !== null);
  if (failed) throw failed[0];
  return experiments.filter((_, at) => replies[at]?.[1] === 0);
}

/** Removed when it is completed: BullMQ would take a retained job for a duplicate of the next one. */
function jobOf(experiment: string, delay: number) {
  const opts = { jobId: experiment, delay, removeOnComplete: true, removeOnFail: true };
  return { name: 'experiment', data: {}, opts };
}

/** Makes a delayed job available at once, without reading it first. False: no such job is delayed. */
async function promote(queue: Queue, experiment: string): Promise<boolean> {
  try {
    await new Job(queue, 'experiment', {}, {}, experiment).promote();
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code !== NOT_IN_STATE) throw error;
    return false;
  }
}
