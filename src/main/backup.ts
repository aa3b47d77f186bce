import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseBucket } from '../config/bucket.ts';
import { type Settings, SettingsError } from '../config/settings.ts';
import { EchelonError } from '../core/errors.ts';
import { createLog } from '../observe/log.ts';
import type { ListedArchive } from '../store/archive/archive.ts';
import {
  createBackup,
  pruneBackups,
  restoreObjects,
  snapshotOf,
  verifyBackup,
} from '../store/backup/backup.ts';
import { type Backup, type Listed, listBackups } from '../store/backup/manifests.ts';
import { hasRedisData, writeRedisData } from '../store/backup/redis-files.ts';
import { takeSnapshot } from '../store/backup/snapshot.ts';
import { createStore, type Store } from '../store/store.ts';
import { openRedisOnce, plainArchive, type RedisPlace } from './open-store.ts';

/** The commands on backups; `place` is a directory or s3://…. */

export { processSettings } from '../config/settings.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** While a backup runs, nothing is deleted for this time, which is renewed three times in it. */
const PAUSE_MS = 60_000;

/** Backs the installation of the settings up to a place. Throws EchelonError, SettingsError. */
export async function backUp(place: string, settings: Settings): Promise<Backup> {
  await using resources = new AsyncDisposableStack();
  const target = await openPlace(place, settings);
  const { archive, where } = await plainArchive(settings);
  const open = () => openRedisOnce(connectionsOf(settings, resources), settings.redisTimeoutMs);
  const store = createStore({ redis: await open(), archive, prefix: settings.redisPrefix });
  resources.defer(() => store.close());
  const installation = await store.installation();
  if (installation === null)
    throw new EchelonError(
      'store-foreign',
      'This Redis has no installation. Check REDIS_URL and ECHELON_REDIS_PREFIX.',
    );
  if ((await archive.readId()) !== installation)
    throw new EchelonError(
      'archive-mismatch',
      `The archive at ${where} does not belong to this Redis (${installation}).`,
    );
  const pause = createPause(store, resources);
  const snapshot = async () => takeSnapshot(await open());
  return await createBackup(target, { archive, snapshot, installation, version, pause, now: Date.now });
}

/** See `pause` of {@link createBackup}. */
function createPause({ retention }: Store, resources: AsyncDisposableStack): () => Promise<void> {
  let isLost = false;
  let timer: NodeJS.Timeout | undefined;
  const again = async () => {
    // Where Redis does not answer now, the next call decides.
    if (!(await retention.pause(PAUSE_MS, { again: true }).catch(() => true))) isLost = true;
  };
  return async () => {
    if (timer === undefined) {
      await retention.pause(PAUSE_MS);
      timer = setInterval(again, PAUSE_MS / 3);
      resources.defer(() => clearInterval(timer));
    } else if (isLost || !(await retention.pause(PAUSE_MS, { again: true })))
      throw new EchelonError(
        'store-unavailable',
        'This process or Redis stood still for a minute, so data of the backup may have been deleted. Run the command again.',
      );
  };
}

/** The backups of a place, the newest first. */
export async function backupsOf(place: string, settings: Settings): Promise<Listed> {
  return await listBackups(await openPlace(place, settings));
}

/** See {@link pruneBackups}. */
export async function prune(
  place: string,
  keep: number,
  settings: Settings,
): ReturnType<typeof pruneBackups> {
  return await pruneBackups(await openPlace(place, settings), { keep, now: Date.now });
}

/** Reads every byte of a backup (default: the newest): what is missing or damaged. */
export async function checkBackup(
  place: string,
  name: string | undefined,
  settings: Settings,
): Promise<{ backup: Backup; faults: string[] }> {
  const source = await openPlace(place, settings);
  const backup = await chosen(place, source, name);
  return { backup, faults: await verifyBackup(source, backup) };
}

/**
 * Writes a backup (default: the newest) to the archive of the settings, and to the data directory of a Redis that does not
 * run. Throws EchelonError `archive-mismatch` or `store-foreign` if there is an installation already.
 */
export async function restoreBackup(
  place: string,
  options: { name?: string | undefined; redisDir?: string | undefined },
  settings: Settings,
): Promise<{ backup: Backup; redisDir: string; archive: string }> {
  const redisDir = options.redisDir ?? join(settings.stateDir, 'redis');
  await refuseRunning(settings, redisDir);
  const source = await openPlace(place, settings);
  const backup = await chosen(place, source, options.name);
  const { archive, where } = await plainArchive(settings);
  // Before its objects: after an interruption, no process takes the archive for an empty one, and the restore can be repeated.
  const found = await archive.claimId(backup.installation);
  if (found !== backup.installation)
    throw new EchelonError(
      'archive-mismatch',
      `The archive at ${where} belongs to installation ${found}, the backup to ${backup.installation}. Name an empty archive.`,
    );
  await restoreObjects(source, backup, archive);
  await writeRedisData(redisDir, snapshotOf(source, backup));
  return { backup, redisDir, archive: where };
}

async function refuseRunning(settings: Settings, redisDir: string): Promise<void> {
  if (await hasRedisData(redisDir))
    throw new EchelonError(
      'store-foreign',
      `${redisDir} has the data of a Redis. Stop that Redis and move its data away, or name another directory with --redis-dir.`,
    );
  if (settings.redisUrl === null && !existsSync(socketOf(settings))) return;
  await using resources = new AsyncDisposableStack();
  const redis = await openRedisOnce(connectionsOf(settings, resources), settings.redisTimeoutMs).catch(
    () => undefined,
  );
  if (redis === undefined) return;
  const { archive } = await plainArchive(settings);
  const store = createStore({ redis, archive, prefix: settings.redisPrefix });
  resources.defer(() => store.close());
  const installation = await store.installation();
  if (installation !== null)
    throw new EchelonError(
      'store-foreign',
      `The Redis of the settings answers and holds installation ${installation}. Stop its apis and dispatchers, then that Redis.`,
    );
}

/** Of `echelon up`, which writes its own Redis there. */
const socketOf = ({ stateDir }: Pick<Settings, 'stateDir'>): string => join(stateDir, 'redis', 'redis.sock');

function connectionsOf(settings: Settings, resources: AsyncDisposableStack) {
  const place: RedisPlace =
    settings.redisUrl === null ? { path: socketOf(settings) } : { url: settings.redisUrl };
  return { place, settings, log: createLog({ level: 'silent', name: 'backup' }), resources };
}

async function chosen(place: string, source: ListedArchive, name: string | undefined): Promise<Backup> {
  const { backups, unreadable } = await listBackups(source);
  const wanted = unreadable.find((one) => name !== undefined && one.name.startsWith(name));
  const found = backups.filter((one) => one.name.startsWith(name ?? ''));
  if (found.length === 0 && wanted !== undefined)
    throw new EchelonError(
      wanted.later ? 'record-too-new' : 'not-found',
      `The manifest ${wanted.name} of ${place} cannot be used: ${wanted.reason}.`,
    );
  if (found.length === 0)
    throw new EchelonError('not-found', `${place} has no backup${name === undefined ? '' : ` ${name}`}.`);
  if (name !== undefined && found.length > 1)
    throw new EchelonError(
      'invalid-request',
      `${found.length} backups begin with ${name}. Give more characters.`,
    );
  return found[0]!;
}

async function openPlace(place: string, settings: Settings): Promise<ListedArchive> {
  const isBucket = place.startsWith('s3:');
  const bucket = isBucket ? parseBucket(place) : null;
  if (typeof bucket === 'string') throw new SettingsError(`${place} ${bucket}`);
  const archiveAccessKey = settings.backupAccessKey ?? settings.archiveAccessKey;
  const archiveSecretKey = settings.backupSecretKey ?? settings.archiveSecretKey;
  if (isBucket && (archiveAccessKey === null || archiveSecretKey === null))
    throw new SettingsError(`${place} needs ECHELON_BACKUP_ACCESS_KEY and ECHELON_BACKUP_SECRET_KEY`);
  const where = { archiveUrl: bucket, archiveAccessKey, archiveSecretKey, archiveDir: place };
  const { archive } = await plainArchive({ ...where, stateDir: settings.stateDir });
  const installation = await archive.readId();
  if (installation === null) return archive;
  throw new EchelonError(
    'archive-mismatch',
    `${place} is the archive of installation ${installation}. Name another place for its backups.`,
  );
}
