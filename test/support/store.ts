import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { EchelonError } from '../../src/core/errors.ts';
import { newExperimentId } from '../../src/core/ids.ts';
import type { Archive } from '../../src/store/archive/archive.ts';
import { createDirectoryArchive } from '../../src/store/archive/archive-directory.ts';
import type { Lease } from '../../src/store/attempts/types.ts';
import type { Cluster } from '../../src/store/clusters/types.ts';
import type { StoreLimits } from '../../src/store/context.ts';
import type { SubmitInput } from '../../src/store/experiments/types.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { claim as claimOn } from './claim.ts';
import { type RedisServer, redisFor } from './redis.ts';

/** What is released when its test is over: a test context, or `{ after }` of node:test for a whole file. */
export interface Scope {
  after(release: () => Promise<void>): void;
}

/** A store of a test with what it stands on. */
export interface TestStore {
  server: RedisServer;
  /** The store's own connection, for a look behind its back. */
  redis: Redis;
  store: Store;
  archive: Archive;
}

/** How {@link storeFor} sets a store up. */
export interface TestStoreOptions {
  /** A server to share; default: one of its own. */
  server?: RedisServer;
  prefix?: string;
  archive?: Archive;
  limits?: Partial<StoreLimits>;
  redisOptions?: Pick<RedisOptions, 'commandTimeout' | 'maxRetriesPerRequest'>;
}

/** A store on a private Redis and an archive in a temporary directory; all is gone when `scope` is over. */
export async function storeFor(scope: Scope, options: TestStoreOptions = {}): Promise<TestStore> {
  const server = options.server ?? (await redisFor(scope));
  const archive = options.archive ?? (await archiveFor(scope));
  const redis = new Redis({
    maxRetriesPerRequest: null,
    ...options.redisOptions,
    port: server.port,
    host: server.host,
  });
  redis.on('error', () => {}); // servers are killed on purpose; what matters reaches the caller of a command
  const store = createStore({
    redis,
    archive,
    ...(options.prefix === undefined ? {} : { prefix: options.prefix }),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  scope.after(async () => {
    await store.close();
    redis.disconnect();
  });
  return { server, redis, store, archive };
}

/** An archive in a temporary directory. */
export async function archiveFor(scope: Scope): Promise<Archive> {
  const dir = await mkdtemp(join(tmpdir(), 'echelon-archive-'));
  scope.after(() => rm(dir, { recursive: true, force: true }));
  return createDirectoryArchive(dir);
}

/** What a submit takes, with a new id and values that do not matter. */
export function submitInput(changes: Partial<SubmitInput> = {}): SubmitInput {
  return {
    id: newExperimentId(),
    project: 'default',
    name: 'a name',
    priority: 0,
    cluster: null,
    gpus: 0,
    cpus: 1,
    submitted: { engine: 'replay' },
    resolved: { engine: 'replay', priority: 0 },
    defaults: ['/priority'],
    fingerprint: null,
    customCode: false,
    ...changes,
  };
}

/** The record of a cluster without nodes, which no process has reached yet. */
export function clusterRecord(changes: Partial<Cluster> = {}): Cluster {
  return {
    name: 'local',
    address: '127.0.0.1:9',
    token: 't',
    ca: null,
    backfill: false,
    generation: null,
    lastSeenAt: null,
    nodes: [],
    ...changes,
  };
}

/** Claims a queued experiment on the cluster `local`. */
export async function claimed(store: Store, experiment: string, leaseMs = 60_000): Promise<Lease> {
  const { version } = await store.clusters.allocations('local');
  const claim = await claimOn(store, {
    experiment,
    cluster: 'local',
    nodes: [{ id: 'node-1', gpus: 0, cpus: 1 }],
    allocationVersion: version,
    dispatcher: 'dispatcher-1',
    leaseMs,
  });
  if (claim.outcome !== 'claimed') throw new Error(`${experiment} was not claimed: ${claim.outcome}`);
  return claim.lease;
}

/** Submits an experiment and brings it to `running`. */
export async function running(
  store: Store,
  options: { input?: Partial<SubmitInput>; leaseMs?: number } = {},
): Promise<Lease> {
  const { id } = await store.experiments.submit(submitInput(options.input));
  const lease = await claimed(store, id, options.leaseMs);
  await store.attempts.confirm(lease);
  return lease;
}

/** Appends a batch of one part with these bytes as event `sequence`. */
export async function recordBatch(
  store: Store,
  lease: Lease,
  { batch, data, sequence = batch }: { batch: number; data: Buffer; sequence?: number },
): Promise<void> {
  const event = {
    type: 'batch',
    step: batch,
    batch,
    index: 0,
    count: 1,
    rows: 4,
    digest: createHash('sha256').update(data).digest('hex'),
    bytes: data.length,
  } as const;
  await store.events.append(lease, [{ sequence, at: sequence, event, data }]);
}

/** Lets leases expire as if their holders were lost a while ago, though the store answered all the time. */
export async function lost(redis: Redis, ...experiments: string[]): Promise<void> {
  for (const experiment of experiments) await redis.zadd('{echelon}:leases', 1, experiment);
  const [seconds] = (await redis.time()) as [number, number];
  await redis.set('{echelon}:answering', `1 ${Number(seconds) * 1000}`);
}

/** A clock of a store at this time, by a server whose clock has leapt by `leapt`. */
export function clockAt(time: number, leapt = 0): Pick<Store['clock'], 'read'> {
  const seen = { seen: time, machine: '', uptime: 0 };
  return { read: async () => ({ time, server: time + leapt, correction: -leapt, ...seen }) };
}

/** Matches an EchelonError by its code, for `assert.rejects`. */
export function coded(code: string): (error: unknown) => boolean {
  return (error) => error instanceof EchelonError && error.code === code;
}
