import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_PROJECT } from '../../src/schemas/project.ts';
import { type Bench, startBench } from '../support/dispatch.ts';
import {
  type PartProcess,
  type Releases,
  spawnPart,
  startDispatcherProcess,
} from '../support/dispatcher-processes.ts';
import { secretsFor } from '../support/notifications.ts';
import { freePort } from '../support/redis.ts';
import { type RedisClock, redisClockFor } from '../support/redis-clock.ts';
import { S3_BUCKET, S3_KEYS, s3ServerFor } from '../support/s3-server.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { createDisk, type Disk } from './disk.ts';

const DISPATCHERS = 3;
/** Drivers that run at a time, if none is large. */
export const CPUS = 34;
/** GPUs of the cluster, of which the project may use a part at a time. */
const GPUS = 16;
const GPU_QUOTA = 3;
/** Connections to the ray-worker that are half-open are noticed well within the bound on recovery. */
const KEEPALIVE = { timeMs: 1_000, timeoutMs: 1_000 };
const TOKEN = 'token-of-the-campaign-0123456789';

/** A process of a world that faults end or freeze. */
export interface Part {
  /** Ends it by a signal and starts another one in its place; one such call waits for another. */
  replace(signal: NodeJS.Signals): Promise<void>;
  freeze(ms: number): Promise<void>;
  /** Sets its clock that much after this process'; its successors have the same clock. */
  setClock(ms: number): Promise<void>;
}

/** A dispatcher, and its own connections to the ray-worker. */
export interface DispatcherPart extends Part {
  readonly toRayWorker: TcpProxy;
}

/** Redis, dispatchers and an api, each a process, and a fake ray-worker. */
export interface World {
  readonly bench: Bench;
  /** The name of its cluster. */
  readonly cluster: string;
  readonly leaseMs: number;
  readonly dispatchers: readonly DispatcherPart[];
  /** The api that users reach. */
  readonly api: { readonly url: string; readonly token: string } & Part;
  /** The GPU quota of the project, and the most GPUs that it ever used at a time. */
  readonly quota: { readonly gpus: number; peak(): number };
  /** Where dispatchers record what they do with leases. */
  readonly leases: { readonly directory: string; readonly leaseMs: number };
  /** By how much times that the store records may differ from those of this machine. */
  readonly clockErrorMs: number;
  /** The disk of Redis. */
  readonly disk: Disk;
  /** Sets the clock of Redis that much after this machine's; undefined: not on this machine. */
  readonly shiftRedisClock: ((ms: number) => Promise<void>) | undefined;
  /** The objects of the archive's bucket. */
  readonly objects: Map<string, Buffer>;
  /** Requests that were not refused although Redis was unfit or another one, in words. */
  readonly admitted: string[];
  /** All connections of dispatchers and the api to Redis. */
  readonly redisProxy: TcpProxy;
  /** All connections of users to the api. */
  readonly apiProxy: TcpProxy;
  /** All connections of dispatchers to the ray-worker. */
  readonly rayWorkerProxy: TcpProxy;
  /** Processes that ended by themselves. */
  readonly selfEnded: readonly string[];
  stop(): Promise<void>;
}

/** Starts a {@link World}. The caller must `stop()` it. */
export async function startWorld({
  leaseMs,
  clockErrorMs = 0,
}: {
  leaseMs: number;
  clockErrorMs?: number;
}): Promise<World> {
  const owned = createOwned();
  try {
    const parts = await startIn(owned, leaseMs);
    return { ...parts, leaseMs, clockErrorMs, selfEnded: owned.selfEnded, stop: owned.stop };
  } catch (error) {
    await owned.stop();
    throw error;
  }
}

async function startIn(
  owned: Owned,
  leaseMs: number,
): Promise<Omit<World, 'leaseMs' | 'clockErrorMs' | 'selfEnded' | 'stop'>> {
  const disk = owned.own(await createDisk());
  const clock = await clockOf(owned, disk);
  const objects = await s3ServerFor(releasesOf(owned));
  const bucket = { name: S3_BUCKET, prefix: '', endpoint: objects.url, ...S3_KEYS };
  const bench = owned.own(await startBench({ cpus: CPUS, gpus: GPUS, redis: clock.redis, bucket }));
  await bench.store.projects.change(DEFAULT_PROJECT, { gpuQuota: GPU_QUOTA });
  const redisProxy = owned.own(await startTcpProxy(`127.0.0.1:${bench.server.port}`));
  const proxied = { ...bench, server: { ...bench.server, url: `redis://${redisProxy.address}` } };
  const rayWorkerProxy = owned.own(await startTcpProxy(bench.rayWorker.address));
  const [cluster] = await bench.store.clusters.list();
  await bench.store.clusters.put({ ...cluster!, address: rayWorkerProxy.address });
  const notify = await secretsFor(releasesOf(owned));
  const leases = { directory: join(bench.directory, 'leases'), leaseMs };
  let started = 0;
  const startDispatcher = async () => {
    const toRayWorker = owned.own(await startTcpProxy(rayWorkerProxy.address));
    const part = await owned.startPart('a dispatcher', (releases, clockMs) => {
      const own = { leaseMs, clockMs, leases: leases.directory, keepalive: KEEPALIVE, notify };
      const setup = { ...own, id: `d${++started}`, rayWorker: toRayWorker.address };
      return startDispatcherProcess(proxied, releases, setup);
    });
    return { ...part, toRayWorker };
  };
  const dispatchers = await Promise.all(Array.from({ length: DISPATCHERS }, startDispatcher));
  const port = await freePort();
  const setup = { url: proxied.server.url, archive: bench.archive, port, token: TOKEN };
  const api = await owned.startPart('the api', async (releases, clockMs) => {
    const own = { script: 'api-process.ts', name: 'api', setup: { ...setup, clockMs } };
    const process = spawnPart(releases, own);
    await process.says('ready');
    return process;
  });
  const apiProxy = owned.own(await startTcpProxy(`127.0.0.1:${port}`));
  return {
    admitted: [],
    bench,
    cluster: 'fake',
    disk,
    shiftRedisClock: clock.shift,
    objects: objects.objects,
    leases,
    redisProxy,
    apiProxy,
    rayWorkerProxy,
    dispatchers,
    quota: { gpus: GPU_QUOTA, peak: bench.rayWorker.peakGpus },
    api: { ...api, url: `http://${apiProxy.address}`, token: TOKEN },
  };
}

const releasesOf = ({ own }: Owned) => ({ after: (stop: () => Promise<void>) => void own({ stop }) });

/** The options of a Redis with this disk and a clock that can be set. */
async function clockOf(owned: Owned, disk: Disk): Promise<Pick<RedisClock, 'redis'> & Partial<RedisClock>> {
  if (disk.missing !== undefined) return { redis: disk.redis };
  const { redis, shift } = await redisClockFor(releasesOf(owned));
  const libraries = [disk.redis.env!.LD_PRELOAD, redis.env!.LD_PRELOAD].join(':');
  return { redis: { env: { ...disk.redis.env, ...redis.env, LD_PRELOAD: libraries } }, shift };
}

type Signalled = Pick<PartProcess, 'kill' | 'exited' | 'tell'>;

/** What a world has started, the last first when it is stopped. */
interface Owned {
  /** The same resource, stopped with the world. */
  own<T extends { stop(): Promise<void> }>(resource: T): T;
  /** Starts a process with `start`, again at each replacement; `clockMs`: how far its clock is after this process'. */
  startPart(name: string, start: (releases: Releases, clockMs: number) => Promise<Signalled>): Promise<Part>;
  /** Names of processes that ended by themselves. */
  readonly selfEnded: readonly string[];
  stop(): Promise<void>;
}

function createOwned(): Owned {
  const resources = new AsyncDisposableStack();
  const selfEnded: string[] = [];
  const expected = new Set<Signalled>();
  let stopping = false;

  async function watched(name: string, starting: Promise<Signalled>): Promise<Signalled> {
    const process = await starting;
    void process.exited.then(() => {
      if (!stopping && !expected.has(process)) selfEnded.push(name);
    });
    return process;
  }

  return {
    own(resource) {
      resources.defer(() => resource.stop());
      return resource;
    },
    async startPart(name, start) {
      let clockMs = 0;
      const releases = { after: (release: () => Promise<void>) => resources.defer(release) };
      let current = watched(name, start(releases, clockMs));
      await current;
      return {
        async replace(signal) {
          current = current.then(async (process) => {
            expected.add(process);
            process.kill(signal);
            await process.exited;
            return await watched(name, start(releases, clockMs));
          });
          await current;
        },
        async freeze(ms) {
          const process = await current;
          process.kill('SIGSTOP');
          await delay(ms);
          process.kill('SIGCONT');
        },
        async setClock(ms) {
          clockMs = ms;
          (await current).tell(`clock ${ms}`);
        },
      };
    },
    selfEnded,
    async stop() {
      stopping = true;
      await resources.disposeAsync();
    },
  };
}
