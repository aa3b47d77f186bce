import { Redis } from 'ioredis';
import { pino } from 'pino';
import { createApp } from '../../src/http/app.ts';
import type { AppDeps } from '../../src/http/server/deps.ts';
import { createExperimentsQueue } from '../../src/queue/experiments-queue.ts';
import { createStore } from '../../src/store/store.ts';
import { startRedis } from '../support/redis.ts';
import { setupOf } from './harness.ts';

/** What requests to {@link startDurableApi} are authorized with. */
export const TOKEN = 'token-of-the-bench-0123456789';

/** An api that no limit slows down, on a Redis of its own that writes every answer to disk first. `stop` ends both. */
export async function startDurableApi() {
  const server = await startRedis({ appendfsync: 'always' });
  const redis = new Redis(server.port, { maxRetriesPerRequest: null });
  const archive = { put: unexpected, get: unexpected, remove: unexpected };
  const store = createStore({ redis, archive, limits: { queuedOfProject: 10_000_000 } });
  const queue = createExperimentsQueue({
    redis,
    prefix: '{echelon}',
    onError: () => {},
    statesOf: store.queue.states,
  });
  const log = pino({ level: 'silent' });
  const app = await createApp({
    store,
    queue,
    log,
    clock: Date,
    verifier: {
      explain: async () => ({}),
      tokens: async () => ({}),
      rows: async () => new Uint8Array(),
      verifyFile: async () => ({ batches: [], steps: [] }),
      bundle: async () => new Uint8Array(),
    },

    settings: {
      promptEndpoints: [],
      version: '0',
      publicUrl: 'http://127.0.0.1',
      allowedHosts: ['127.0.0.1'],
      tokens: [TOKEN],
      cookieSecret: 'x'.repeat(32),
      limits: { requests: 100_000_000 },
    },
  } as AppDeps);
  return {
    app,
    redis,
    store,
    queue,
    log,
    /** The machine in words. */
    setup: await setupOf(redis),
    /** Address of the api; more routes come before. */
    listen: () => app.listen({ host: '127.0.0.1', port: 0 }),
    async stop() {
      await app.close();
      await queue.close();
      await store.close();
      redis.disconnect();
      await server.stop();
    },
  };
}

async function unexpected(): Promise<never> {
  throw new Error('nothing here is long');
}
