import { Queue, type Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { connectToServe, type Looked, serveQueue, within } from './looking.ts';

/*
 * What always holds: a job is a hint that a command waits. It carries only the command's id; losing it, repeating it
 * or letting its lock lapse changes when somebody looks, never what happens.
 */

/** Job data: a pointer to the record. */
export interface CommandJob {
  command: string;
}

/** A running set of BullMQ workers, one for each cluster that has commands. */
export interface CommandServer {
  /** Serves exactly the queues of these clusters from now on. */
  serve(clusters: ReadonlySet<string>): void;
  /** Takes no more jobs, waits for those in hand for `graceMs`, then leaves them. */
  close(graceMs: number): Promise<void>;
}

/** The queues of commands, one for each cluster. */
export interface CommandQueues {
  /** Gives a command its job; a second time changes nothing. */
  send(cluster: string, command: string): Promise<void>;
  /** Starts to hand commands to `handle`, one of a cluster at a time. */
  server(handle: (command: string) => Promise<Looked>): CommandServer;
  close(): Promise<void>;
}

/** Name of the BullMQ queue of a cluster's commands. */
export function commandQueue(cluster: string): string {
  return `commands-${cluster}`;
}

const KEPT_JOBS = { count: 20, age: 24 * 3600 };
const FORCED_MS = 200;

/** The queues in the Redis behind `redis` (see `createLine`), under the store's hash tag `prefix`. */
export function createCommandQueues({
  redis,
  prefix,
  onError,
}: {
  redis: Redis;
  prefix: string;
  onError: (error: Error) => void;
}): CommandQueues {
  const connection = redis.duplicate();
  connection.on('error', onError);
  const shared = { prefix: `${prefix}:bull`, skipWaitingForReady: true, skipVersionCheck: true };

  return {
    async send(cluster, command) {
      // Commands are rare: a queue that is kept would only hold listeners.
      const queue = new Queue<CommandJob>(commandQueue(cluster), { ...shared, connection });
      queue.on('error', onError);
      try {
        const kept = { removeOnComplete: KEPT_JOBS, removeOnFail: KEPT_JOBS };
        await queue.add('command', { command }, { jobId: command, ...kept });
      } finally {
        await queue.close().catch(onError);
      }
    },
    server: (handle) => createServer(handle, { redis, prefix: shared.prefix, onError }),
    async close() {
      await connection.quit().catch(() => connection.disconnect());
    },
  };
}

function createServer(
  handle: (command: string) => Promise<Looked>,
  options: { redis: Redis; prefix: string; onError: (error: Error) => void },
): CommandServer {
  const { redis, prefix, onError } = options;
  const workers = new Map<string, Worker<CommandJob>>();
  const closing = new Set<Promise<void>>();
  let connection: Redis | undefined;
  let closed = false;

  const look = ({ command }: CommandJob) => handle(command);

  function open(cluster: string): Worker<CommandJob> {
    connection ??= connectToServe(redis, onError);
    return serveQueue(commandQueue(cluster), look, { connection, prefix, concurrency: 1, onError });
  }

  function leave(worker: Worker<CommandJob>, force: boolean): void {
    const left: Promise<void> = worker
      .close(force)
      .catch(onError)
      .finally(() => closing.delete(left));
    closing.add(left);
  }

  return {
    serve(clusters) {
      if (closed) return;
      for (const cluster of clusters) if (!workers.has(cluster)) workers.set(cluster, open(cluster));
      for (const [cluster, worker] of workers) {
        if (clusters.has(cluster)) continue;
        workers.delete(cluster);
        leave(worker, false);
      }
    },
    async close(graceMs) {
      closed = true;
      for (const worker of workers.values()) leave(worker, false);
      if (!(await within(graceMs, Promise.all(closing)))) {
        const forced = [...workers.values()].map((worker) => worker.close(true).catch(onError));
        // With Redis away even this may wait; the connection is cut then.
        await within(FORCED_MS, Promise.all(forced));
      }
      workers.clear();
      connection?.disconnect();
    },
  };
}
