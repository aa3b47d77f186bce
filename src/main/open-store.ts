import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { type Settings, SettingsError } from '../config/settings.ts';
import { EchelonError } from '../core/errors.ts';
import { createLog, type Log } from '../observe/log.ts';
import type { ListedArchive } from '../store/archive/archive.ts';
import { createDirectoryArchive } from '../store/archive/archive-directory.ts';
import {
  type ArchiveIdentity,
  type GuardedArchive,
  guardArchive,
} from '../store/archive/archive-identity.ts';
import { createS3Archive } from '../store/archive/archive-s3.ts';
import type { OwnRedis } from '../store/redis/own-redis.ts';
import { createStore, type Store } from '../store/store.ts';
import type { StartPatience } from './start-patience.ts';
import { type StoreWatch, watchStore } from './watch-store.ts';

/** Where Redis is: a Unix socket, or a URL. */
export type RedisPlace = { path: string } | { url: string };

/** What a connection is made with; `resources` closes it. */
interface Connections {
  place: RedisPlace;
  settings: Settings;
  log: Log;
  resources: AsyncDisposableStack;
  /** Absent: a connection may lead to any Redis. */
  own?: OwnRedis;
}

/** The place of Redis in `settings`. Throws {@link SettingsError} if they have none. */
export function redisPlace({ redisUrl }: Settings): RedisPlace {
  if (redisUrl === null)
    throw new SettingsError(
      'REDIS_URL is not set; only `echelon up` and `echelon demo` start a Redis of their own',
    );
  return { url: redisUrl };
}

/** A connection of its own, for commands that fail at once if Redis is away, and after `commandMs` if it does not answer. */
export function openRedis(connections: Connections, commandMs: number): Redis {
  return connect(connections, { ...impatient(commandMs), enableOfflineQueue: false });
}

/**
 * Options of ioredis for a connection whose commands fail after `commandMs` without an answer. If nothing at all arrived in
 * that time, the connection may be half open, and another one takes its place. An idle connection stays.
 */
export function impatient(commandMs: number) {
  return { commandTimeout: commandMs, socketTimeout: commandMs, maxRetriesPerRequest: 1 };
}

/** A connection that fails at once, and is not replaced, after any fault. */
export async function openRedisOnce(connections: Connections, commandMs: number): Promise<Redis> {
  const haste = { ...impatient(commandMs), retryStrategy: () => null, lazyConnect: true };
  const redis = connect(connections, haste);
  await redis.connect().catch((error: Error) => {
    throw new EchelonError('store-unavailable', `Redis does not answer: ${error.message}`);
  });
  return redis;
}

type Haste = ReturnType<typeof impatient> &
  Pick<RedisOptions, 'enableOfflineQueue' | 'retryStrategy' | 'lazyConnect'>;

function connect({ place, settings, log, resources, own }: Connections, haste: Haste): Redis {
  // A password in the address wins, since the address is read first.
  const password = settings.redisPassword === null ? {} : { password: settings.redisPassword };
  // For ioredis a path to a socket and a URL are both a place in its first argument.
  const redis = new Redis('path' in place ? place.path : place.url, {
    ...password,
    ...haste,
    ...own?.options,
  });
  resources.defer(() => redis.disconnect());
  // ioredis reconnects by itself; without a listener the first error would end the process.
  redis.on('error', (error) => log.debug({ err: error }, 'redis connection'));
  return redis;
}

/** How long the store's commands and its first answer are waited for. */
export interface StorePatience {
  /** See {@link impatient}. */
  commandMs: number;
  /** Carries out what may be repeated until the store answers. */
  start: StartPatience;
}

/**
 * How long a process of these roles waits for an answer of Redis. A dispatcher waits as long as its lease: earlier
 * nothing is lost, and a failed command would only be sent again to a Redis that is busy already.
 */
export function commandTimeout({ redisTimeoutMs, leaseMs }: Settings, roles: readonly string[]): number {
  return roles.includes('dispatcher') ? Math.max(redisTimeoutMs, leaseMs) : redisTimeoutMs;
}

/**
 * The store; an {@link EchelonError} where its Redis does not answer, or would lose what it accepts, or where the archive
 * is not the one that belongs to it. From then on, connections with `own` lead to this Redis only.
 */
export async function openStore(
  connections: Connections,
  patience: StorePatience,
): Promise<{ store: Store; installation: string; watch: StoreWatch }> {
  const { settings, log, resources, own } = connections;
  const redis = connect(connections, impatient(patience.commandMs));
  const archive = await openArchive(settings);
  const store = createStore({ redis, archive, prefix: settings.redisPrefix });
  resources.defer(() => store.close());
  try {
    await patience.start(() => store.checkFitness());
    await refuseOpenRedis(connections, patience);
  } catch (error) {
    if (!settings.allowUnfitRedis || !(error instanceof EchelonError) || error.code !== 'store-misconfigured')
      throw error;
    log.warn({ err: error }, 'this Redis is not fit for production');
  }
  const installation = await patience.start(() => archive.bind(store));
  own?.bind(installation);
  const allowUnfit = settings.allowUnfitRedis;
  const watch = watchStore({ store, connection: redis, own, installation, allowUnfit, log });
  resources.defer(() => watch.stop());
  return { store, installation, watch };
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Throws EchelonError `store-misconfigured` where a Redis that others can reach answers without a password. */
async function refuseOpenRedis({ place, log }: Connections, { commandMs }: StorePatience): Promise<void> {
  if ('path' in place || !URL.canParse(place.url)) return;
  const url = new URL(place.url);
  if (LOOPBACK.test(url.hostname)) return;
  url.username = url.password = '';
  const redis = new Redis(url.href, {
    ...impatient(commandMs),
    retryStrategy: () => null,
    lazyConnect: true,
  });
  redis.on('error', (error) => log.debug({ err: error }, 'redis connection without a password'));
  const open = await redis.ping().then(
    () => true,
    () => false,
  );
  redis.disconnect();
  if (!open) return;
  throw new EchelonError(
    'store-misconfigured',
    `The Redis server at ${url.host} answers without a password, and others can reach it. Put a line "requirepass PASSWORD" into redis.conf and set REDIS_PASSWORD.`,
  );
}

/** Throws an {@link EchelonError} if the Redis of `settings` does not answer, or may lose accepted experiments. */
export async function checkStore(settings: Settings): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const log = createLog({ level: 'silent', name: 'check' });
  const patience: StorePatience = { commandMs: settings.redisTimeoutMs, start: (step) => step() };
  await openStore({ place: redisPlace(settings), settings, log, resources }, patience);
}

/** No experiment has this id. A request for it at start shows whether the bucket can be used. */
const NO_EXPERIMENT = 'start-of-a-process';

async function openArchive(settings: Settings): Promise<GuardedArchive> {
  const { archive, where } = await plainArchive(settings);
  return guardArchive(archive, { where, mayVanish: settings.archiveUrl === null });
}

/** The archive of `settings`, and its place for messages. */
export async function plainArchive(
  settings: Pick<
    Settings,
    'archiveUrl' | 'archiveAccessKey' | 'archiveSecretKey' | 'archiveDir' | 'stateDir'
  >,
): Promise<{ archive: ListedArchive & ArchiveIdentity; where: string }> {
  const { archiveUrl, archiveAccessKey: accessKey, archiveSecretKey: secretKey } = settings;
  if (archiveUrl !== null && accessKey !== null && secretKey !== null) {
    const archive = createS3Archive({ ...archiveUrl, accessKey, secretKey });
    await archive.remove(NO_EXPERIMENT);
    return { archive, where: `s3://${archiveUrl.name}/${archiveUrl.prefix}` };
  }
  const directory = settings.archiveDir ?? join(settings.stateDir, 'archive');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return { archive: createDirectoryArchive(directory), where: directory };
}
