import { DelayedError, type Job, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { settledWithin } from '../core/settled-within.ts';

/**
 * What becomes of a received job. `complete`: it is removed. `soon`: another attempt to serve it follows, by any
 * dispatcher. `queued`: its experiment is queued, and the job with it.
 */
export type Served = 'complete' | 'soon' | 'queued';

/** A running BullMQ worker of the queue. */
export interface QueueServer {
  /** Receives no more jobs, waits for those in hand for `graceMs`, then abandons them. */
  close(graceMs: number): Promise<void>;
}

/** How jobs are received. */
export interface ServeOptions {
  /** Jobs in hand at a time. */
  concurrency: number;
  /** The jobs of a process that died are received again after about this time. */
  lockMs: number;
}

/** What a server needs beside the handler. */
export interface ServeParts extends ServeOptions {
  name: string;
  prefix: string;
  redis: Redis;
  onError(error: Error): void;
  /** Delay of the job of a queued experiment. */
  queuedMs: number;
  /** The job was completed, or delayed as that of a queued experiment. */
  onServed(experiment: string, served: 'complete' | 'queued'): Promise<void>;
}

const SOON_MS = 500;

/** Starts a BullMQ worker that hands the id of each job to `handle`. A `handle` that throws is called again soon. */
export function serveQueue(handle: (experiment: string) => Promise<Served>, parts: ServeParts): QueueServer {
  const { name, prefix, onError, onServed, concurrency, lockMs } = parts;
  const connection = connectToServe(parts.redis, onError);
  const processor = async (job: Job, token: string | undefined): Promise<void> => {
    const served = await handle(job.id!).catch((error: Error): Served => {
      onError(error);
      return 'soon';
    });
    if (served === 'complete') return;
    await job.moveToDelayed(Date.now() + (served === 'soon' ? SOON_MS : parts.queuedMs), token);
    if (served === 'queued') await onServed(job.id!, served).catch(onError);
    throw new DelayedError();
  };
  const worker = new Worker(name, processor, {
    ...{ connection, prefix, concurrency, lockDuration: lockMs, stalledInterval: Math.ceil(lockMs / 3) },
    skipVersionCheck: true,
    // A job that a dead process left is received again, however often; the record says what it is worth.
    maxStalledCount: 1_000_000,
  });
  worker.on('error', onError);
  worker.on('completed', (job) => void onServed(job.id!, 'complete').catch(onError));
  return {
    async close(graceMs) {
      // `close` would wait for jobs in hand for ever, whatever it is told afterwards.
      await settledWithin(graceMs, worker.pause());
      await worker.close(true);
      connection.disconnect();
    },
  };
}

/** A connection for BullMQ workers to the server of `redis`: it waits while that is away. */
export function connectToServe(redis: Redis, onError: (error: Error) => void): Redis {
  const waiting = { maxRetriesPerRequest: null, enableOfflineQueue: true, commandTimeout: undefined };
  return redis.duplicate(waiting as Parameters<Redis['duplicate']>[0]).on('error', onError);
}
