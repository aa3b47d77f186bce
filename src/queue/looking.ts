import { DelayedError, type Job, Worker } from 'bullmq';
import type { Redis } from 'ioredis';

/*
 * What a BullMQ worker of ours does with a job is to have somebody look at what it points to. The job itself decides
 * nothing: a failure, a lapsed lock or a repetition only leads to another look.
 */

/** What the handler of a job answers: done with it, or to be looked at again after `parkMs`. */
export type Looked = { done: true } | { done: false; parkMs: number };

const AFTER_ERROR_MS = 1000;

/** A connection for BullMQ workers, to where `redis` is: while that is away, it waits. */
export function connectToServe(redis: Redis, onError: (error: Error) => void): Redis {
  const patient = { maxRetriesPerRequest: null, enableOfflineQueue: true, commandTimeout: undefined };
  return redis.duplicate(patient as Parameters<Redis['duplicate']>[0]).on('error', onError);
}

/** Starts a BullMQ worker that has somebody look at each job of a queue; see {@link createLook}. */
export function serveQueue<Data>(
  queue: string,
  handle: (data: Data) => Promise<Looked>,
  options: { connection: Redis; prefix: string; concurrency: number; onError: (error: Error) => void },
): Worker<Data> {
  const { onError, ...own } = options;
  return new Worker<Data>(queue, createLook(handle, onError), {
    ...own,
    skipVersionCheck: true,
    // A stalled job is only looked at again; it must never be failed for it.
    maxStalledCount: 1_000_000,
  }).on('error', onError);
}

/** The processor of a BullMQ worker that hands job data to `handle`. A `handle` that throws is asked again. */
export function createLook<Data>(
  handle: (data: Data) => Promise<Looked>,
  onError: (error: Error) => void,
): (job: Job<Data>, token: string | undefined) => Promise<void> {
  return async (job, token) => {
    const looked = await handle(job.data).catch((error: Error): Looked => {
      onError(error);
      return { done: false, parkMs: AFTER_ERROR_MS };
    });
    if (looked.done) return;
    await job.moveToDelayed(Date.now() + looked.parkMs, token);
    throw new DelayedError();
  };
}

/** Whether `work` was over within `ms`; rejects where it does. */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
