import { readFileSync } from 'node:fs';
import { Job, type Queue } from 'bullmq';
import type { Redis } from 'ioredis';

/** Delay of a queued experiment's job. If the experiment is still queued at its end, the job is delayed again. */
export const QUEUED_MS = 24 * 3600 * 1000;
/**
 * Options of a job. It is removed on completion: BullMQ would take a retained job for a duplicate of the next one. Up to 64
 * bytes of JSON, Redis stores a job in 200 bytes and not in 700, so the delay and the id are only in the job's fields.
 */
const JOB_OPTIONS = { removeOnComplete: true, removeOnFail: true };
const JOB_NAME = 'experiment';
/** BullMQ's code for a job that is in another state than the one asked for, or does not exist. */
const NOT_IN_STATE = -3;

/** Changes of single jobs in BullMQ's keys. */
export interface Jobs {
  /** Adds a delayed job for each experiment that has none, in one script. Returns those experiments. */
  addDelayed(experiments: readonly string[]): Promise<string[]>;
  /** Makes a delayed job available at once; adds the job if there is none. False: it was available before. */
  release(experiment: string): Promise<boolean>;
}

/** See {@link Jobs}. */
export function createJobs(queue: Queue, connection: Redis): Jobs {
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
