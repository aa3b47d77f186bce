import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';

/** What every BullMQ queue of an installation is opened with. */
export interface QueueParts {
  /** The queue copies its options for its own connections. Pass a connection that fails fast if calls must fail fast. */
  redis: Redis;
  /** The store's hash tag, e.g. "{echelon}". */
  prefix: string;
  onError(error: Error): void;
}

/** Opens a BullMQ queue on a connection of its own. `prefix`: that of BullMQ's keys. */
export function openQueue(name: string, { redis, prefix: tag, onError }: QueueParts) {
  const connection = redis.duplicate();
  connection.on('error', onError);
  const prefix = `${tag}:bull`;
  const queue = new Queue(name, { prefix, connection, skipWaitingForReady: true, skipVersionCheck: true });
  queue.on('error', onError);
  return {
    queue,
    connection,
    prefix,
    async close(): Promise<void> {
      await queue.close();
      // Without Redis it would try to connect forever.
      await connection.quit().catch(() => connection.disconnect());
    },
  };
}
