import { readFileSync } from 'node:fs';
import { Job, type Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { gathering } from './gathering.ts';
import { openQueue, type QueueParts } from './open-queue.ts';
import { type QueueServer, type Served, type ServeLimits, serveQueue } from './serve.ts';

/*
 * Every queued experiment has one job with the experiment's id. Delayed: the experiment is queued. Waiting: it is allocated,
 * and any dispatcher may receive the job. Active: it is being launched. Jobs have no order and no data: the record decides.
 * After each change of a job, the queue reads the record and corrects the job if the record changed meanwhile. The
 * reconciler restores a lost job, whichever of BullMQ's keys was lost. A job that outlives its experiment is completed when its delay ends.
 */

/** The BullMQ queue of experiments. */
export interface ExperimentsQueue {
  /** For the board; read-only there. */
  queues: Queue[];
  /** Adds the jobs of queued experiments that have none. Concurrent calls are sent together. */
  enqueue(experiments: readonly string[]): Promise<void>;
  /** As `enqueue`, in calls of its own. Returns the experiments whose jobs were added. */
  restore(experiments: readonly string[]): Promise<string[]>;
  /** Lets a dispatcher receive the job of an allocated experiment; adds the job if there is none. False: it was released. */
  release(experiment: string): Promise<boolean>;
  /** Removes the jobs of experiments that ended before a dispatcher received them. An active job stays. */
  remove(experiments: readonly string[]): Promise<void>;
  /** Number of jobs by BullMQ state. */
  counts(): Promise<Record<string, number>>;
  /** Starts a BullMQ worker that hands the experiment of each released job to `handle`. */
  serve(handle: (experiment: string) => Promise<Served>, options: ServeLimits): QueueServer;
  close(): Promise<void>;
}

/** Name of the BullMQ queue. */
const QUEUE = 'experiments';

/** Maximum number of jobs of one call: Redis is blocked for its duration, a few ms. */
const MAX_AT_ONCE = 50;
/** See {@link ExperimentsQueue}. */
export function createExperimentsQueue({
  statesOf,
  ...parts
}: QueueParts & {
  /** The states of the experiments that must have a job, by the store. */
  statesOf(experiments: readonly string[]): Promise<ReadonlyMap<string, 'queued' | 'allocated'>>;
}): ExperimentsQueue {
  const { redis, onError } = parts;
  const { queue, connection, prefix, close } = openQueue(QUEUE, parts);
  const { addDelayed, release } = createJobs(queue, connection);

  async function remove(experiments: readonly string[]): Promise<void> {
    // A locked job is active: the dispatcher that received it completes it.
    await Promise.all(experiments.map((experiment) => queue.remove(experiment)));
  }

  /** Corrects jobs whose records have changed since the jobs were added. */
  async function agree(experiments: readonly string[]): Promise<void> {
    const states = await statesOf(experiments);
    await Promise.all([
      ...experiments.filter((id) => states.get(id) === 'allocated').map(release),
      remove(experiments.filter((id) => !states.has(id))),
    ]);
  }

  async function add(experiments: readonly string[]): Promise<string[]> {
    const added = await addDelayed(experiments);
    await agree(added);
    return added;
  }

  const adding = gathering(async (experiments: string[]) => void (await add(experiments)), MAX_AT_ONCE);

  const enqueue = async (experiments: readonly string[]) =>
    void (await Promise.all(experiments.map(adding.add)));

  /** An attempt may have ended with a retry while its job was active; the job of the next attempt was refused then. */
  async function onServed(experiment: string, served: 'complete' | 'queued'): Promise<void> {
    if (served === 'queued') return await agree([experiment]);
    const state = (await statesOf([experiment])).get(experiment);
    if (state !== undefined) await enqueue([experiment]);
  }

  const served = { name: QUEUE, prefix, queuedMs: QUEUED_MS };
  return {
    queues: [queue],
    enqueue,
    release,
    remove,
    restore: (experiments) => inParts(experiments, add),
    counts: () => queue.getJobCounts(),
    serve: (handle, options) => serveQueue(handle, { ...options, ...served, redis, onError, onServed }),
    async close() {
      await adding.idle();
      await close();
    },
  };
}

async function inParts(
  experiments: readonly string[],
  add: (part: readonly string[]) => Promise<string[]>,
): Promise<string[]> {
  const added: string[] = [];
  for (let at = 0; at < experiments.length; at += MAX_AT_ONCE)
    added.push(...(await add(experiments.slice(at, at + MAX_AT_ONCE))));
  return added;
}

/** Delay of a queued experiment's job. If the experiment is still queued at its end, the job is delayed again. */
const QUEUED_MS = 24 * 3600 * 1000;
/**
 * Options of a job. It is removed on completion: BullMQ would take a retained job for a duplicate of the next one. Up to 64
 * bytes of JSON, Redis stores a job in 200 bytes and not in 700, so the delay and the id are only in the job's fields.
 */
const JOB_OPTIONS = { removeOnComplete: true, removeOnFail: true };
const JOB_NAME = 'experiment';
/** BullMQ's code for a job that is in another state than the one asked for, or does not exist. */
const NOT_IN_STATE = -3;

/** Changes of single jobs in BullMQ's keys. */
interface Jobs {
  /** Adds a delayed job for each experiment that has none, in one script. Returns those experiments. */
  addDelayed(experiments: readonly string[]): Promise<string[]>;
  /** Makes a delayed job available at once; adds the job if there is none. False: it was available before. */
  release(experiment: string): Promise<boolean>;
}

/** See {@link Jobs}. */
function createJobs(queue: Queue, connection: Redis): Jobs {
  const addDelayed = delayedAdder(queue, connection);
  return {
    addDelayed,
    async release(experiment) {
      if (await promote(queue, experiment)) return true;
      return (await addDelayed([experiment])).length > 0 && (await promote(queue, experiment));
    },
  };
}

/** Adds delayed jobs in one script: BullMQ's `addBulk` costs this process and Redis several times as much for each job. */
function delayedAdder(
  queue: Queue,
  connection: Redis,
): (experiments: readonly string[]) => Promise<string[]> {
  const lua = readFileSync(new URL('lua/add-jobs.lua', import.meta.url), 'utf8');
  connection.defineCommand('echelon:add-jobs', { lua, numberOfKeys: 2 });
  const script = connection as unknown as Record<
    'echelon:add-jobs',
    (...args: (string | number)[]) => Promise<string[]>
  >;
  const parts = [
    queue.toKey('delayed'),
    queue.toKey('marker'),
    queue.toKey(''),
    JOB_NAME,
    JSON.stringify(JOB_OPTIONS),
  ];
  return async (experiments) =>
    await script['echelon:add-jobs'](...parts, Date.now(), QUEUED_MS, ...experiments);
}

/** Makes a delayed job available at once, without reading it first. False: the job is not delayed or does not exist. */
async function promote(queue: Queue, experiment: string): Promise<boolean> {
  try {
    await new Job(queue, JOB_NAME, {}, {}, experiment).promote();
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code !== NOT_IN_STATE) throw error;
    return false;
  }
}
