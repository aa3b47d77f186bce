import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createDirectoryArchive } from '../../src/store/archive/archive-directory.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { until } from '../support/dispatch.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { clusterRecord } from '../support/store.ts';
import { type RoleProcess, spawnRole } from '../support/system.ts';

/** A stand-in for the ray-worker of the cluster. */
interface RayWorker {
  address: string;
  token: string;
}

/** A whole service on one machine whose cluster is a stand-in. Roles are processes of their own. */
export interface Fleet {
  server: RedisServer;
  redis: Redis;
  store: Store;
  tokens: readonly string[];
  startDispatcher(): Promise<RoleProcess>;
  /** Gives its URL. */
  startApi(): Promise<string>;
}

/** Starts Redis, which writes to disk before it answers, and a ray-worker. The caller starts roles; `resources` end all. */
export async function startFleet(
  resources: AsyncDisposableStack,
  startRayWorker: (directory: string) => Promise<RayWorker>,
  { callers = 1 } = {},
): Promise<Fleet> {
  const directory = await mkdtemp(join(tmpdir(), 'ech-bench-'));
  resources.defer(() => rm(directory, { recursive: true, force: true }));
  const server = await startRedis({ appendfsync: 'always' });
  resources.defer(() => server.stop());
  const redis = new Redis(server.port, { maxRetriesPerRequest: null });
  const archive = createDirectoryArchive(join(directory, 'archive'));
  const store = createStore({ redis, archive, limits: { queuedOfProject: 10_000_000 } });
  resources.defer(async () => {
    await store.close();
    redis.disconnect();
  });
  await store.clusters.put(clusterRecord({ name: 'fake', ...(await startRayWorker(directory)) }));
  // Each may do only so many requests a minute.
  const tokens = Array.from({ length: callers }, (_, caller) => `token-of-the-bench-0123456789-${caller}`);
  const environment = {
    ...process.env,
    REDIS_URL: server.url,
    ECHELON_STATE_DIR: directory,
    ECHELON_TOKENS: tokens.join(),
    ECHELON_PORT: '0',
    ECHELON_ALLOW_UNFIT_REDIS: 'true',
    ECHELON_LOG_LEVEL: 'warn',
  };
  async function start(role: string, ready: RegExp): Promise<[RoleProcess, string]> {
    const started = await spawnRole([role], environment, ready);
    resources.defer(async () => {
      started[0].kill('SIGKILL');
      await started[0].ended.catch(() => {});
    });
    return started;
  }
  return {
    server,
    redis,
    store,
    tokens,
    async startDispatcher() {
      const [dispatcher] = await start('dispatcher', /(dispatching)/);
      await until(async () => (await store.clusters.list())[0]?.nodes.length, 'the cluster is seen');
      return dispatcher;
    },
    startApi: async () => (await start('api', /listening on (\S+)/))[1],
  };
}

/** A ray-worker in a process of its own, on which every launch runs `driver`. */
export function rayWorkerProcess(resources: AsyncDisposableStack, driver: object) {
  return async (directory: string): Promise<RayWorker> => {
    const setup = JSON.stringify({ directory, driver, cpus: 1_000_000 });
    const rayWorker = fork(new URL('fleet-ray-worker.ts', import.meta.url), [setup]);
    resources.defer(async () => {
      const ended = once(rayWorker, 'exit');
      rayWorker.kill('SIGKILL');
      await ended;
    });
    const [address] = (await once(rayWorker, 'message')) as [string];
    return { address, token: 'fake-token' };
  };
}

const TICK_MS = 10;
const PAGE_BYTES = 4096;

/** The CPU time of a process with all its threads so far, and its memory now. */
export async function usageOf(pid: number): Promise<{ cpuMs: number; rss: number }> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
    rss: Number(fields[21]) * PAGE_BYTES,
  };
}

/** The share of a core, in percent, that each of these processes takes over the next `ms`. */
export async function cpuShares(pids: readonly number[], ms: number): Promise<number[]> {
  const usages = () => Promise.all(pids.map(usageOf));
  const before = await usages();
  const start = performance.now();
  await pause(ms);
  const passed = performance.now() - start;
  const after = await usages();
  return after.map(({ cpuMs }, at) => (100 * (cpuMs - before[at]!.cpuMs)) / passed);
}
