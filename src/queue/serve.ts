import { DelayedError, type Job, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { settledWithin } from '../core/settled-within.ts';

/**
 * The result of a received job. `complete`: the job is removed. `soon`: any dispatcher receives it again soon. `queued`: its
 * experiment is queued, so the job is delayed again.
 */
export type Served = 'complete' | 'soon' | 'queued';

/** A running BullMQ worker of the queue. */
export interface QueueServer {
  /** Receives no more jobs, waits for active jobs for `graceMs`, then abandons them. */
  close(graceMs: number): Promise<void>;
}

/** Limits of a queue server. */
export interface ServeLimits {
  /** Maximum number of active jobs. */
  concurrency: number;
  /** After about this time, the jobs of a process that died are received again. */
  lockMs: number;
}

const SOON_MS = 500;

/** Starts a BullMQ worker that hands the id of each job to `handle`. A `handle` that throws is called again soon. */
export function serveQueue(
  handle: (experiment: string) => Promise<Served>,
  parts: ServeLimits & {
    name: string;
    prefix: string;
    redis: Redis;
    onError(error: Error): void;
    /** Delay of the job of a queued experiment. */
    queuedMs: number;
    /** Called after the job was completed, or delayed because its experiment is queued. */
    onServed(experiment: string, served: 'complete' | 'queued'): Promise<void>;
  },
): QueueServer {
  const { name, prefix, onError, onServed, concurrency, lockMs } = parts;
  const { connection, disconnect } = connectToServe(parts.redis, onError);
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
    connection,
    prefix,
    concurrency,
    lockDuration: lockMs,
    stalledInterval: Math.ceil(lockMs / 3),
    skipVersionCheck: true,
    // A job of a dead process is received again, however often: the record decides whether it still matters.
    maxStalledCount: 1_000_000,
    // Also of a job whose options were lost.
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  });
  worker.on('error', onError);
  const keys = (name: string) => `${prefix}:${parts.name}:${name}`;
  const shortening = setInterval(
    () => void shortenLocks(parts.redis, { keys, lockMs }).catch(onError),
    lockMs,
  );
  worker.on('completed', (job) => void onServed(job.id!, 'complete').catch(onError));
  return {
    async close(graceMs) {
      clearInterval(shortening);
      // `close` alone would wait for active jobs forever.
      const paused = worker.pause();
      await settledWithin(graceMs, paused);
      await worker.close(true);
      disconnect();
      // BullMQ connects to wait for jobs again at the end of a pause, also if it was closed meanwhile.
      void paused.then(disconnect, disconnect);
    },
  };
}

/**
 * After the server's clock has leapt and returned, keys from that time last as long as the leap: no worker would look for
 * the jobs of dead processes, and locks of dead processes would not end.
 */
async function shortenLocks(
  redis: Redis,
  { keys, lockMs }: { keys: (name: string) => string; lockMs: number },
): Promise<void> {
  if ((await redis.pttl(keys('stalled-check'))) <= lockMs) return;
  for (const job of await redis.lrange(keys('active'), 0, -1)) {
    const lock = keys(`${job}:lock`);
    if ((await redis.pttl(lock)) > lockMs) await redis.pexpire(lock, lockMs);
  }
  await redis.del(keys('stalled-check'));
}

/** BullMQ asks Redis to wait for a job for at most this time, and replaces the connection if no answer follows. */
const MAX_BLOCK_MS = 10_000;

/**
 * A connection for BullMQ workers to the server of `redis`; it waits while that server is away. BullMQ blocks on a duplicate of
 * it, where an answer may come that much later. `disconnect` ends both.
 */
export function connectToServe(
  redis: Redis,
  onError: (error: Error) => void,
): { connection: Redis; disconnect: () => void } {
  const { socketTimeout = 0 } = redis.options;
  const waiting = { maxRetriesPerRequest: null, enableOfflineQueue: true, commandTimeout: undefined };
  const connection = redis.duplicate(waiting as Parameters<Redis['duplicate']>[0]).on('error', onError);
  const duplicate = connection.duplicate.bind(connection);
  const all = [connection];
  connection.duplicate = (override) => {
    const late = { ...override, socketTimeout: MAX_BLOCK_MS + socketTimeout };
    const copy = socketTimeout > 0 ? duplicate(late) : duplicate(override);
    all.push(copy);
    return copy;
  };
  return { connection, disconnect: () => all.forEach((one) => void one.disconnect()) };
}
