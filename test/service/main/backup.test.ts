import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { loadSettings } from '../../../src/config/settings.ts';
import type { ControllerEvent } from '../../../src/core/events.ts';
import { newSubscriptionId } from '../../../src/core/ids.ts';
import { backUp, backupsOf, checkBackup, prune, restoreBackup } from '../../../src/main/backup.ts';
import { createDirectoryArchive } from '../../../src/store/archive/archive-directory.ts';
import { guardArchive } from '../../../src/store/archive/archive-identity.ts';
import { createStore, type Store } from '../../../src/store/store.ts';
import { makeKey, makeProjects } from '../../support/access.ts';
import { allBatches } from '../../support/batches.ts';
import { type RedisServer, redisFor } from '../../support/redis.ts';
import { S3_BUCKET, S3_KEYS, s3ServerFor } from '../../support/s3-server.ts';
import { recordBatch, running, type Scope, submitInput } from '../../support/store.ts';

/** Releases in reverse order when the test is over. */
function reversed(t: Scope): Scope {
  const resources = new AsyncDisposableStack();
  t.after(() => resources.disposeAsync());
  return { after: (release) => void resources.defer(release) };
}

async function folderFor(t: Scope): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'echelon-backups-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** An installation: a store on a Redis, with its archive in a folder. */
async function installationFor(t: Scope, server: RedisServer, folder: string) {
  const redis = new Redis({ port: server.port, host: server.host, maxRetriesPerRequest: null });
  redis.on('error', () => {});
  const archive = guardArchive(createDirectoryArchive(folder), { where: folder, mayVanish: true });
  const store = createStore({ redis, archive, limits: { inlineBytes: 1000 } });
  t.after(async () => {
    await store.close();
    redis.disconnect();
  });
  await archive.bind(store);
  return { store, redis, server, archive: folder };
}

type Installation = Awaited<ReturnType<typeof installationFor>>;

/** An installation with ended experiments in the archive, one that runs, and one in the queue. */
async function filledFor(t: Scope): Promise<Installation> {
  const made = await installationFor(t, await redisFor(t), await folderFor(t));
  const { store } = made;
  for (let at = 0; at < 6; at++) await finished(store, at);
  const lease = await running(store);
  await recordBatch(store, lease, { batch: 1, data: Buffer.alloc(5000, 'runs') });
  await store.experiments.submit(submitInput());
  return made;
}

/** A finished experiment with a long and a short batch, their reports, and its stream in the archive. */
async function finished(store: Store, at: number): Promise<string> {
  const lease = await running(store);
  await recordBatch(store, lease, { batch: 1, data: Buffer.alloc(200_000, `long ${at}`) });
  await recordBatch(store, lease, { batch: 2, data: Buffer.from(`short ${at}`) });
  await store.attempts.end(lease, { to: 'succeeded', reason: 'exit code 0' });
  for (const record of await store.batches.takePending(5, { holder: 'verifier-1', leaseMs: 60_000 }))
    await store.batches.report(record, verificationOf(record.batch), { ok: true, at });
  await store.rules.dropSignals(lease.experiment);
  if (at % 2 === 0) await store.archive.archiveStream(lease.experiment);
  return lease.experiment;
}

function verificationOf(batch: number): Extract<ControllerEvent, { type: 'verification' }> {
  const counts = { rows: 4, exact: 4, rounding: 0, wrong: 0, unverifiable: 0 };
  return { type: 'verification', attempt: 1, batch, step: batch, ...counts, errors: [], ok: true };
}

/** The digest of each experiment's record, events, reports and batches, read as a user would. */
async function digestsOf({ redis, store }: Installation): Promise<Record<string, string>> {
  const ids = (await redis.zrange('{echelon}:all', '0', '-1')).sort();
  assert.ok(ids.length > 0);
  const digests: Record<string, string> = {};
  for (const id of ids) {
    const hash = createHash('sha256').update(JSON.stringify(await store.experiments.get(id)));
    hash.update(JSON.stringify(await store.events.read(id, undefined, 1000)));
    for (const batch of await allBatches(store, id))
      hash.update(JSON.stringify(batch)).update(await store.batches.bytes(batch));
    digests[id] = hash.digest('hex');
  }
  return digests;
}

/** Everything in a Redis by key, in an order of its own; not what only says that processes are alive. */
async function contentsOf({ redis }: Installation): Promise<Record<string, unknown>> {
  const readers: Record<string, (key: string) => Promise<unknown>> = {
    string: (key) => redis.get(key),
    hash: async (key) => Object.entries(await redis.hgetall(key)).sort(),
    set: async (key) => (await redis.smembers(key)).sort(),
    zset: (key) => redis.zrange(key, '0', '-1', 'WITHSCORES'),
    list: (key) => redis.lrange(key, 0, -1),
    stream: (key) => redis.xrange(key, '-', '+'),
  };
  const contents: Record<string, unknown> = {};
  for (const key of (await redis.keys('*')).sort())
    if (!/:(clock|backup)$/.test(key)) contents[key] = await readers[await redis.type(key)]!(key);
  return contents;
}

interface Given {
  /** The installation that is backed up, or the archive that is restored to. */
  archive: string;
  redisUrl?: string;
  env?: Record<string, string>;
}

function environmentOf({ archive, redisUrl = '', env = {} }: Given): Record<string, string> {
  return { HOME: archive, ECHELON_ARCHIVE_DIR: archive, REDIS_URL: redisUrl, ...env };
}

const settingsOf = (given: Given) => loadSettings(environmentOf(given));

/** Starts `echelon backup …` as a process. */
function start(t: Scope, argv: string[], given: Given): ChildProcess {
  const child = spawn(process.execPath, ['bin/start.mjs', 'backup', ...argv], {
    env: { PATH: process.env.PATH, ...environmentOf(given) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(async () => void child.kill('SIGKILL'));
  return child;
}

async function echelon(t: Scope, argv: string[], given: Given): Promise<{ code: number; text: string }> {
  const child = start(t, argv, given);
  const ended = once(child, 'close');
  const pieces = await Promise.all(
    [child.stdout!, child.stderr!].map((stream) => stream.setEncoding('utf8').toArray()),
  );
  await ended;
  return { code: child.exitCode ?? -1, text: pieces.flat().join('') };
}

async function succeeds(t: Scope, argv: string[], given: Given): Promise<string> {
  const { code, text } = await echelon(t, argv, given);
  assert.equal(code, 0, text);
  return text;
}

/** A place of backups in a bucket, and the variables that open it. */
async function bucketFor(t: Scope) {
  const s3 = await s3ServerFor(t);
  const place = `s3://${S3_BUCKET}/nightly?endpoint=${s3.url}&region=${S3_KEYS.region}`;
  const env = { ECHELON_BACKUP_ACCESS_KEY: S3_KEYS.accessKey, ECHELON_BACKUP_SECRET_KEY: S3_KEYS.secretKey };
  const objects = (owner: RegExp) => [...s3.objects.keys()].filter((key) => owner.test(key)).length;
  return { s3, place, env, objects };
}

type BucketPlace = Awaited<ReturnType<typeof bucketFor>>;

/** Kills `echelon backup …` while it waits for the answer to its request number `count` of a kind. */
async function killedAt(
  t: Scope,
  { s3 }: BucketPlace,
  { argv, given, request, count }: { argv: string[]; given: Given; request: RegExp; count: number },
): Promise<void> {
  let seen = 0;
  const reached = s3.holdFrom((one) => request.test(one) && ++seen === count);
  const child = start(t, argv, given);
  const ended = once(child, 'exit');
  await Promise.race([reached, ended.then(() => assert.fail(`it ended before request ${count}`))]);
  child.kill('SIGKILL');
  await ended;
  s3.resume();
}

/** Restores a backup on an empty machine, and starts its Redis. */
async function restoredFor(t: Scope, place: string, env: Record<string, string> = {}) {
  const machine = await machineFor(t);
  await restoreBackup(place, { redisDir: machine.dir }, settingsOf({ ...machine, env }));
  return await machine.started();
}

/** The empty machine of a restore: the folders of its archive and of its Redis, which starts after the restore. */
async function machineFor(t: Scope) {
  const server = await redisFor(t, { config: { port: '0' } });
  await server.kill();
  for (const name of await readdir(server.dir)) await rm(join(server.dir, name), { recursive: true });
  const archive = await folderFor(t);
  const started = async () => {
    await server.start();
    const redis = new Redis({ path: server.socket });
    redis.on('error', () => {});
    const guarded = guardArchive(createDirectoryArchive(archive), { where: archive, mayVanish: true });
    const store = createStore({ redis, archive: guarded });
    t.after(async () => {
      await store.close();
      redis.disconnect();
    });
    await guarded.bind(store);
    return { store, redis, server, archive };
  };
  return { dir: server.dir, archive, started };
}

const names = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true }).catch(() => [])).filter((name) => !name.endsWith('.tmp'));

test('a backup that is made while experiments run, restored on an empty machine, has the same digests of all records, events and reports', async (context) => {
  const t = reversed(context);
  const source = await filledFor(t);
  const before = await digestsOf(source);
  const lease = await running(source.store);
  let isWriting = true;
  const writing = (async () => {
    for (let batch = 1; isWriting; batch++)
      await recordBatch(source.store, lease, { batch, data: Buffer.alloc(2000, `batch ${batch}`) });
  })();
  const place = await folderFor(t);
  await succeeds(t, ['create', place], { ...source, redisUrl: source.server.url });
  isWriting = false;
  await writing;
  assert.match(await succeeds(t, ['verify', place], source), /objects of the archive/);
  assert.equal((JSON.parse(await succeeds(t, ['ls', place, '--json'], source)) as unknown[]).length, 1);

  const machine = await machineFor(t);
  await succeeds(t, ['restore', place, '--redis-dir', machine.dir], machine);
  const restored = await machine.started();
  const { [lease.experiment]: _written, ...after } = await digestsOf(restored);
  assert.deepEqual(after, before);
  // What was written meanwhile is there up to a moment, with its bytes.
  const read = async ({ store }: Installation) =>
    JSON.stringify(await store.events.read(lease.experiment, undefined, 1000)).slice(0, -1);
  const [whole, part] = [await read(source), await read(restored)];
  assert.ok(part.length > 2 && whole.startsWith(part));
});

test('a backup that is killed at any moment is none, and the next one is whole', async (context) => {
  const t = reversed(context);
  const source = await filledFor(t);
  const before = await digestsOf(source);
  const bucket = await bucketFor(t);
  const { place, env } = bucket;
  const given = { ...source, redisUrl: source.server.url, env };
  const settings = settingsOf(given);
  for (const [request, count] of [
    [/^PUT .*backup-create/, 1],
    [/^PUT .*backup-snapshots/, 1],
    [/^PUT .*exp-/, 4],
    [/^PUT .*\/backups\//, 1],
  ] as const) {
    await killedAt(t, bucket, { argv: ['create', place], given, request, count });
    assert.deepEqual((await backupsOf(place, settings)).backups, [], `${request}`);
  }
  await makeProjects(source.store, 'team');
  await makeKey(source.store, { project: 'team' });
  await source.store.subscriptions.add({
    id: newSubscriptionId(),
    project: 'team',
    events: ['state'],
    target: { kind: 'webhook', url: 'https://example.com/', secret: 'hook' },
    createdBy: 'ann',
  });
  const whole = await contentsOf(source);
  await backUp(place, settings);
  assert.deepEqual((await checkBackup(place, undefined, settings)).faults, []);
  const restored = await restoredFor(t, place, env);
  assert.deepEqual(await contentsOf(restored), whole);
  assert.deepEqual(await digestsOf(restored), before);
});

test('a restore that is killed at any moment leaves no data that a Redis would load, and can be repeated', async (context) => {
  const t = reversed(context);
  const source = await filledFor(t);
  const before = await digestsOf(source);
  const bucket = await bucketFor(t);
  const { place, env } = bucket;
  await backUp(place, settingsOf({ ...source, redisUrl: source.server.url, env }));
  const machine = await machineFor(t);
  const empty = await redisFor(t);
  const given = { ...machine, env };
  const argv = ['restore', place, '--redis-dir', machine.dir];
  for (const [request, count] of [
    [/^GET .*\/exp-\w+\/[0-9a-f]{64}/, 3],
    [/^GET .*backup-snapshots\/[0-9a-f]{64}/, 1],
  ] as const) {
    await killedAt(t, bucket, { argv, given, request, count });
    await assert.rejects(stat(join(machine.dir, 'appendonlydir')), `${request}`);
    // No process makes an installation of what is there.
    const started = installationFor(t, empty, machine.archive);
    await assert.rejects(started, /belongs to installation .* Restore the data of Redis/);
  }
  await restoreBackup(place, { redisDir: machine.dir }, settingsOf(given));
  assert.deepEqual(await digestsOf(await machine.started()), before);
});

test('a backup in an S3 bucket is restored from it, and a second one copies only what is new', async (context) => {
  const t = reversed(context);
  const source = await filledFor(t);
  const { s3, place, env } = await bucketFor(t);
  const settings = settingsOf({ ...source, redisUrl: source.server.url, env });
  const puts = () => s3.answered.filter((one) => one.startsWith('PUT')).length;
  await backUp(place, settings);
  const first = puts();
  const before = await digestsOf(source);
  await backUp(place, settings);
  // The snapshot, the manifest and the mark of the command alone.
  assert.equal(puts() - first, 3);
  assert.deepEqual((await checkBackup(place, undefined, settings)).faults, []);
  await prune(place, 1, settings);
  assert.equal((await backupsOf(place, settings)).backups.length, 1);
  assert.deepEqual(await digestsOf(await restoredFor(t, place, env)), before);
});

test('a damaged object is found by verify, and a restore of it leaves no data for Redis', async (context) => {
  const t = reversed(context);
  const source = await filledFor(t);
  const place = await folderFor(t);
  await backUp(place, settingsOf({ ...source, redisUrl: source.server.url }));
  const victim = (await names(place)).find((name) => /exp-\w+\/[0-9a-f]{64}$/.test(name))!;
  const bytes = await readFile(join(place, victim));
  await writeFile(join(place, victim), Buffer.concat([bytes.subarray(1), Buffer.from('x')]));
  const found = await echelon(t, ['verify', place], source);
  assert.equal(found.code, 1);
  assert.match(found.text, new RegExp(victim.split('/').slice(-2).join('/')));
  const machine = await machineFor(t);
  await assert.rejects(restoreBackup(place, { redisDir: machine.dir }, settingsOf(machine)), /is damaged/);
  await assert.rejects(stat(join(machine.dir, 'appendonlydir')));
});

test('a restore is refused over a running installation, over data of a Redis, and over another archive', async (context) => {
  const t = reversed(context);
  const source = await filledFor(t);
  const place = await folderFor(t);
  const given = { ...source, redisUrl: source.server.url };
  await backUp(place, settingsOf(given));
  const empty = await folderFor(t);
  const before = await digestsOf(source);
  const other = await installationFor(t, await redisFor(t), await folderFor(t));
  const refused = async (redisDir: string, machine: Given, message: RegExp) =>
    assert.rejects(restoreBackup(place, { redisDir }, settingsOf(machine)), message);
  await refused(empty, given, /The Redis of the settings answers and holds installation/);
  await refused(source.server.dir, { archive: source.archive }, /has the data of a Redis/);
  await refused(empty, { archive: other.archive }, /belongs to installation/);
  assert.deepEqual(await readdir(empty), []);
  assert.deepEqual(await digestsOf(source), before);
});

test('nothing is deleted from the archive while a backup runs', async (context) => {
  const t = reversed(context);
  const { store } = await filledFor(t);
  const kept = await finished(store, 0);
  const gone = await finished(store, 2);
  assert.equal(await store.retention.pause(60_000), true);
  assert.equal(await store.retention.expire('batches', kept), 'waiting');
  assert.equal(await store.retention.expire('records', kept), 'waiting');
  assert.equal(await store.experiments.delete(gone), 'deleted');
  assert.equal(await store.retention.collectGarbage(10), 0);
  assert.equal(await store.retention.pause(1, { again: true }), true);
  await pause(20);
  assert.equal(await store.retention.pause(60_000, { again: true }), false);
  assert.equal(await store.retention.collectGarbage(10), 1);
  assert.equal(await store.retention.expire('batches', kept), 'expired');
});

/** Backups of one installation, whose experiments come and go in between. */
async function backupsFor(t: Scope, place: string, { count, env }: { count: number; env?: Given['env'] }) {
  const source = await filledFor(t);
  const given = { ...source, redisUrl: source.server.url, ...(env && { env }) };
  const settings = settingsOf(given);
  const gone = await finished(source.store, 0);
  await backUp(place, settings);
  assert.equal(await source.store.experiments.delete(gone), 'deleted');
  // The pause of the backup lasts a little longer than the command.
  await source.redis.del('{echelon}:backup');
  assert.equal(await source.store.retention.collectGarbage(10), 1);
  for (let at = 1; at < count; at++) {
    await finished(source.store, 10 + at);
    await backUp(place, settings);
  }
  const listed = async () => (await backupsOf(place, settings)).backups.map(({ name }) => name);
  return { source, given, settings, gone, listed };
}

test('a prune deletes old backups with what only they name, and the rest is restored with the same digests', async (context) => {
  const t = reversed(context);
  const place = await folderFor(t);
  const { source, given, settings, gone, listed } = await backupsFor(t, place, { count: 3 });
  const before = await listed();
  const ofGone = async () => (await names(place)).filter((name) => name.includes(gone)).length;
  assert.ok((await ofGone()) > 0);
  const said = await succeeds(t, ['prune', place, '--keep-last', '2'], given);
  assert.match(said, /^Deleted 1 backup with \d+ objects; 2 backups remain\.$/m);
  assert.deepEqual(await listed(), before.slice(0, 2));
  assert.equal(await ofGone(), 0);
  for (const name of before.slice(0, 2))
    assert.deepEqual((await checkBackup(place, name, settings)).faults, []);
  assert.deepEqual(await digestsOf(await restoredFor(t, place)), await digestsOf(source));
});

test('a prune that is killed at any moment leaves whole backups, and can be repeated', async (context) => {
  const t = reversed(context);
  const bucket = await bucketFor(t);
  const { s3, place, env, objects } = bucket;
  const { given, settings, listed } = await backupsFor(t, place, { count: 3, env });
  const argv = ['prune', place, '--keep-last', '1'];
  await killedAt(t, bucket, { argv, given, request: /^DELETE .*\/exp-/, count: 1 });
  assert.equal((await listed()).length, 1);
  for (const name of await listed()) assert.deepEqual((await checkBackup(place, name, settings)).faults, []);
  // A killed command blocks others for a while: its mark is made old.
  await assert.rejects(backUp(place, settings), /was alive in this place/);
  const mark = [...s3.objects.keys()].find((key) => /backup-prune-/.test(key))!;
  const old = Buffer.from(String(Date.now() - 11 * 60_000));
  s3.objects.delete(mark);
  s3.objects.set(join(mark, '..', createHash('sha256').update(old).digest('hex')), old);
  await prune(place, 1, settings);
  assert.equal((await listed()).length, 1);
  assert.equal(objects(/backup-(prune|create)/), 0);
  await backUp(place, settings);
});

test('a prune deletes nothing if no backup that stays is whole, while a backup is made, and in an archive', async (context) => {
  const t = reversed(context);
  const place = await folderFor(t);
  const { source, settings, listed } = await backupsFor(t, place, { count: 2 });
  const [newest] = await listed();
  const files = (await names(place)).sort();
  const refused = (of: string, message: RegExp) => assert.rejects(prune(of, 1, settings), message);
  await refused(source.archive, /is the archive of installation/);
  const running = createDirectoryArchive(place);
  const mark = Buffer.from(String(Date.now()));
  const digest = createHash('sha256').update(mark).digest('hex');
  await running.put('backup-create-0123456789ab', digest, mark);
  await refused(place, /`echelon backup create` was alive in this place/);
  await running.remove('backup-create-0123456789ab');
  const pieces = files.filter((name) => /backup-snapshots\/[0-9a-f]{64}$/.test(name));
  for (const one of pieces) await writeFile(join(place, one), 'damaged');
  await refused(place, /Nothing is deleted: none of the 1 newest backups/);
  assert.equal((await listed())[0], newest);
  assert.deepEqual(
    (await names(place)).filter((name) => /[0-9a-f]{64}$/.test(name)).sort(),
    files.filter((name) => /[0-9a-f]{64}$/.test(name)),
  );
});
