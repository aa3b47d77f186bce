import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { type QueueServer, type ServeLimits, serveQueue } from './serve.ts';

/*
 * A subscription with a due delivery has one job with its id, so that only one process delivers its messages. The outbox in
 * the store decides what is due; a lost job is added again in the next round.
 */

/** The BullMQ queue of deliveries. */
export interface DeliveriesQueue {
  /** For the board; read-only there. */
  queue: Queue;
  /** Adds a job for each subscription that has none. */
  add(subscriptions: readonly string[]): Promise<void>;
  /** Starts a BullMQ worker that hands the subscription of each job to `handle`; one that throws is called again soon. */
  serve(handle: (subscription: string) => Promise<void>, limits: ServeLimits): QueueServer;
  close(): Promise<void>;
}

const QUEUE = 'deliveries';

/** See {@link DeliveriesQueue}. `redis`: a connection that fails fast, which is copied; `prefix`: the store's hash tag. */
export function createDeliveriesQueue({
  redis,
  prefix,
  onError,
}: {
  redis: Redis;
  prefix: string;
  onError(error: Error): void;
}): DeliveriesQueue {
  const connection = redis.duplicate();
  connection.on('error', onError);
  const shared = { prefix: `${prefix}:bull`, skipWaitingForReady: true };
  const queue = new Queue(QUEUE, { ...shared, connection, skipVersionCheck: true });
  queue.on('error', onError);
  const opts = { removeOnComplete: true, removeOnFail: true };
  return {
    queue,
    async add(subscriptions) {
      const jobs = subscriptions.map((id) => ({ name: 'deliver', data: {}, opts: { ...opts, jobId: id } }));
      if (jobs.length > 0) await queue.addBulk(jobs);
    },
    serve: (handle, limits) =>
      serveQueue(
        async (id) => {
          await handle(id);
          return 'complete';
        },
        {
          ...limits,
          name: QUEUE,
          prefix: shared.prefix,
          redis,
          onError,
          queuedMs: 0,
          onServed: async () => {},
        },
      ),
    async close() {
      await queue.close();
      await connection.quit().catch(() => connection.disconnect());
    },
  };
}
