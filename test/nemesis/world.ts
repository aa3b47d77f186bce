import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_PROJECT } from '../../src/schemas/project.ts';
import { type Bench, startBench } from '../support/dispatch.ts';
import {
  OWN_SOURCES,
  type PartProcess,
  type Releases,
  spawnPart,
  startDispatcherProcess,
} from '../support/dispatcher-processes.ts';
import type { FakeRayWorker } from '../support/fake-ray-worker.ts';
import { secretsFor } from '../support/notifications.ts';
import { freePort } from '../support/redis.ts';
import { type RedisClock, redisClockFor } from '../support/redis-clock.ts';
import { S3_BUCKET, S3_KEYS, s3ServerFor } from '../support/s3-server.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { createDisk, type Disk } from './disk.ts';
import type { History } from './history.ts';

const DISPATCHERS = 3;
/** Drivers that run at a time, if none is large. */
export const CPUS = 34;
/** GPUs of the cluster, of which the project may use a part at a time. */
const GPUS = 16;
const GPU_QUOTA = 3;
/** Connections to the ray-worker that are half-open are noticed well within the bound on recovery. */
const KEEPALIVE = { timeMs: 1_000, timeoutMs: 1_000 };
const TOKEN = 'token-of-the-campaign-0123456789';

/** What a campaign needs of a world, whatever its parts are. */
export interface Observed {
  readonly bench: {
    readonly store: Bench['store'];
    /** A witness that the store does not know: what drivers did. */
    readonly rayWorker: Pick<FakeRayWorker, 'running' | 'launches' | 'overlaps' | 'events' | 'arose'>;
  };
  /** The GPU quota of the project, and the most GPUs that it ever used at a time; undefined: it has no quota. */
  readonly quota?: { readonly gpus: number; peak(): number };
  /** The name of its cluster. */
  readonly cluster: string;
  /** The api that users reach. */
  readonly api: { readonly url: string; readonly token: string };
  /** Where dispatchers record what they do with leases; undefined: they do not. */
  readonly leases?: { readonly directory: string; readonly leaseMs: number };
  /** Whether its dispatchers send notifications, also to 127.0.0.1. Default: no. */
  readonly notifies?: boolean;
  /** By how much times that the store records may differ from those of this machine. Default: 0. */
  readonly clockErrorMs?: number;
  /** Processes that ended by themselves. */
  readonly selfEnded: readonly string[];
  /** Violations that the world's own witnesses show. Default: none. */
  violations?(history: History): string[];
  stop(): Promise<void>;
  /** What the stopped world has left on the machine, in words. Default: nothing. */
  left?(): string[];
}

/** A process of a world that faults end or freeze. */
export interface Part {
  /**
   * Ends it by a signal and starts another one in its place; one such call waits for another. `sources`: the folder of the
   * sources that it and its successors run.
   */
  replace(signal: NodeJS.Signals, sources?: string): Promise<void>;
  freeze(ms: number): Promise<void>;
  /** Sets its clock that much after this process'; its successors have the same clock. */
  setClock(ms: number): Promise<void>;
}

/** A dispatcher, and its own connections to the ray-worker. */
export interface DispatcherPart extends Part {
  readonly toRayWorker: TcpProxy;
}

/** Redis, dispatchers and an api, each a process, and a fake ray-worker. */
export interface World extends Observed {
  readonly bench: Bench;
  readonly leaseMs: number;
  readonly dispatchers: readonly DispatcherPart[];
  readonly api: Observed['api'] & Part;
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
}

/** Starts a {@link World}. The caller must `stop()` it. `sources`: folder of the sources that its processes run first. */
export async function startWorld({
  leaseMs,
  sources,
  clockErrorMs = 0,
}: {
  leaseMs: number;
  sources?: string;
  clockErrorMs?: number;
}): Promise<World> {
  const owned = createOwned(sources);
  try {
    const inBucket = sources === undefined;
    return {
      ...(await startIn(owned, { leaseMs, inBucket })),
      leaseMs,
      clockErrorMs,
      selfEnded: owned.selfEnded,
      stop: owned.stop,
    };
  } catch (error) {
    await owned.stop();
    throw error;
  }
}

async function startIn(
  owned: Owned,
  // Processes of an older version know a directory only.
  { leaseMs, inBucket }: { leaseMs: number; inBucket: boolean },
): Promise<Omit<World, 'leaseMs' | 'selfEnded' | 'stop'>> {
  const disk = owned.own(await createDisk());
  const clock = await clockOf(owned, disk);
  const objects = await s3ServerFor(releasesOf(owned));
  const bucket = { name: S3_BUCKET, prefix: '', endpoint: objects.url, ...S3_KEYS };
  const bench = owned.own(
    await startBench({ cpus: CPUS, gpus: GPUS, redis: clock.redis, ...(inBucket && { bucket }) }),
  );
  await bench.store.projects.change(DEFAULT_PROJECT, { gpuQuota: GPU_QUOTA });
  const redisProxy = owned.own(await startTcpProxy(`127.0.0.1:${bench.server.port}`));
  const proxied = { ...bench, server: { ...bench.server, url: `redis://${redisProxy.address}` } };
  const rayWorkerProxy = owned.own(await startTcpProxy(bench.rayWorker.address));
  const [cluster] = await bench.store.clusters.list();
  await bench.store.clusters.put({ ...cluster!, address: rayWorkerProxy.address });
  const notify = inBucket ? await secretsFor(releasesOf(owned)) : undefined;
  const leases = { directory: join(bench.directory, 'leases'), leaseMs };
  let started = 0;
  const startDispatcher = async () => {
    const toRayWorker = owned.own(await startTcpProxy(rayWorkerProxy.address));
    const part = await owned.startPart('a dispatcher', (releases, { clockMs, sources }) => {
      const own = { leaseMs, clockMs, leases: leases.directory, keepalive: KEEPALIVE };
      const setup = {
        ...own,
        id: `d${++started}`,
        rayWorker: toRayWorker.address,
        ...(notify && { notify }),
      };
      return startDispatcherProcess(proxied, releases, setup, sources);
    });
    return { ...part, toRayWorker };
  };
  const dispatchers = await Promise.all(Array.from({ length: DISPATCHERS }, startDispatcher));
  const port = await freePort();
  const setup = { url: proxied.server.url, archive: bench.archive, port, token: TOKEN };
  const api = await owned.startPart('the api', async (releases, { clockMs, sources }) => {
    const own = { script: 'api-process.ts', name: 'api', setup: { ...setup, clockMs }, sources };
    const process = spawnPart(releases, own);
    await process.says('ready');
    return process;
  });
  const apiProxy = owned.own(await startTcpProxy(`127.0.0.1:${port}`));
  const admitted: string[] = [];
  return {
    admitted,
    violations: () => admitted,
    notifies: notify !== undefined,
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

/** What a process keeps over its replacements: how far its clock is after this process', and the folder of its sources. */
interface OwnOfPart {
  readonly clockMs: number;
  readonly sources: string;
}

/** What a world has started, the last first when it is stopped. */
export interface Owned {
  /** The same resource, stopped with the world. */
  own<T extends { stop(): Promise<void> }>(resource: T): T;
  /** Starts a process with `start`, again at each replacement. */
  startPart(name: string, start: (releases: Releases, own: OwnOfPart) => Promise<Signalled>): Promise<Part>;
  /** Names of processes that ended by themselves. */
  readonly selfEnded: readonly string[];
  stop(): Promise<void>;
}

/** An empty {@link Owned}. `sources`: folder of the sources that its processes run first. */
export function createOwned(sources = OWN_SOURCES): Owned {
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
      const own = { clockMs: 0, sources };
      const releases = { after: (release: () => Promise<void>) => resources.defer(release) };
      let current = watched(name, start(releases, own));
      await current;
      return {
        async replace(signal, next) {
          current = current.then(async (process) => {
            expected.add(process);
            process.kill(signal);
            await process.exited;
            if (next !== undefined) own.sources = next;
            return await watched(name, start(releases, own));
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
          own.clockMs = ms;
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
