import type { Queue } from 'bullmq';
import { openQueue, type QueueParts } from './open-queue.ts';
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

/** See {@link DeliveriesQueue}. */
export function createDeliveriesQueue(parts: QueueParts): DeliveriesQueue {
  const { redis, onError } = parts;
  const { queue, prefix, close } = openQueue(QUEUE, parts);
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
          prefix,
          redis,
          onError,
          queuedMs: 0,
          onServed: async () => {},
        },
      ),
    close,
  };
}
