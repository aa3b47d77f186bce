import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { createExperimentsQueue, type ExperimentsQueue } from '../../../src/queue/experiments-queue.ts';
import { createDirectoryArchive } from '../../../src/store/archive/archive-directory.ts';
import { createStore, type Store } from '../../../src/store/store.ts';
import { until } from '../../support/dispatch.ts';
import type { FakeDriver } from '../../support/fake-driver.ts';
import { freePort, type RedisServer, startRedis } from '../../support/redis.ts';
import { clusterRecord } from '../../support/store.ts';
import { type RoleProcess, spawnRole } from '../../support/system.ts';

/** A token may send so many requests in ten seconds; a bench that sends more uses several. */
const TOKENS = 8;

/** Redis and the bench's own connections to it. */
export interface Base {
  server: RedisServer;
  redis: Redis;
  store: Store;
  queue: ExperimentsQueue;
  /** The state directory of every role. */
  directory: string;
}

/** A whole service on one machine, whose cluster is a stand-in. Every part is a process of its own. */
export interface Fleet extends Base {
  url: string;
  tokens: readonly string[];
  rayWorkerPid: number;
  startDispatcher(): Promise<RoleProcess>;
  startApi(): Promise<RoleProcess>;
}

/** A Redis that writes to disk before it answers, unless `config` says otherwise; `resources` ends it. */
export async function startBase(
  resources: AsyncDisposableStack,
  config: Record<string, string> = {},
): Promise<Base> {
  const directory = await mkdtemp(join(tmpdir(), 'ech-scale-'));
  resources.defer(() => rm(directory, { recursive: true, force: true }));
  const server = await startRedis({ config });
  resources.defer(() => server.stop());
  const redis = new Redis(server.port, { maxRetriesPerRequest: null });
  redis.on('error', () => {}); // a bench may restart the server
  const archive = createDirectoryArchive(join(directory, 'archive'));
  const store = createStore({ redis, archive, limits: { queuedOfProject: 10_000_000 } });
  const queue = createExperimentsQueue({
    redis,
    prefix: '{echelon}',
    onError: () => {},
    statesOf: store.queue.states,
  });
  resources.defer(async () => {
    await queue.close();
    await store.close();
    redis.disconnect();
  });
  return { server, redis, store, queue, directory };
}

/**
 * {@link startBase} with a stand-in cluster on which every launch runs `driver`. Roles are the caller's to start, with
 * `variables` in their environment.
 */
export async function startFleet(
  resources: AsyncDisposableStack,
  driver: FakeDriver,
  { cpus = 1_000_000, variables = {} }: { cpus?: number; variables?: Record<string, string> } = {},
): Promise<Fleet> {
  const base = await startBase(resources);
  const { directory, server, store } = base;
  const rayWorker = fork(new URL('ray-worker.ts', import.meta.url), [
    JSON.stringify({ directory, driver, cpus }),
  ]);
  resources.defer(async () => {
    const ended = once(rayWorker, 'exit');
    rayWorker.kill('SIGKILL');
    await ended;
  });
  const [address] = (await once(rayWorker, 'message')) as [string];
  await store.clusters.put(clusterRecord({ name: 'fake', address, token: 'fake-token' }));
  const tokens = Array.from({ length: TOKENS }, (_token, at) => `token-of-the-bench-0123456789-${at}`);
  const port = await freePort();
  const environment = {
    ...process.env,
    REDIS_URL: server.url,
    ECHELON_STATE_DIR: directory,
    ECHELON_TOKENS: tokens.join(),
    ECHELON_PORT: String(port),
    ECHELON_ALLOW_UNFIT_REDIS: 'true',
    ECHELON_LOG_LEVEL: 'warn',
    ...variables,
  };
  const start = async (role: string, ready: RegExp): Promise<RoleProcess> => {
    const [process] = await spawnRole([role], environment, ready);
    resources.defer(async () => {
      process.kill('SIGKILL');
      await process.ended;
    });
    return process;
  };
  return {
    ...base,
    tokens,
    url: `http://127.0.0.1:${port}`,
    rayWorkerPid: rayWorker.pid!,
    async startDispatcher() {
      const dispatcher = await start('dispatcher', /(dispatching)/);
      await until(async () => (await store.clusters.list())[0]?.nodes.length, 'the cluster is seen');
      return dispatcher;
    },
    startApi: () => start('api', /listening on (\S+)/),
  };
}
