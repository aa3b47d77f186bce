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
import type { ControllerEvent } from '../../../src/core/events.ts';
import { newSubscriptionId } from '../../../src/core/ids.ts';
import { createDirectoryArchive } from '../../../src/store/archive/archive-directory.ts';
import { guardArchive } from '../../../src/store/archive/archive-identity.ts';
import { createStore, type Store } from '../../../src/store/store.ts';
import { makeKey, makeProjects } from '../../support/access.ts';
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
    for (const batch of await store.batches.list(id))
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

/** Starts `echelon backup …` as a process. */
function start(t: Scope, argv: string[], { archive, redisUrl = '', env = {} }: Given): ChildProcess {
  const child = spawn(process.execPath, ['bin/start.mjs', 'backup', ...argv], {
    env: { PATH: process.env.PATH, HOME: archive, ECHELON_ARCHIVE_DIR: archive, REDIS_URL: redisUrl, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(async () => void child.kill('SIGKILL'));
  return child;
}

async function echelon(t: Scope, argv: string[], given: Given): Promise<{ code: number; text: string }> {
  const child = start(t, argv, given);
  const pieces = await Promise.all(
    [child.stdout!, child.stderr!].map((stream) => stream.setEncoding('utf8').toArray()),
  );
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return { code: child.exitCode ?? -1, text: pieces.flat().join('') };
}

async function succeeds(t: Scope, argv: string[], given: Given): Promise<string> {
  const { code, text } = await echelon(t, argv, given);
  assert.equal(code, 0, text);
  return text;
}

/** Kills a process as soon as `when` holds; false if it ended before. */
async function killed(child: ChildProcess, when: () => Promise<boolean>): Promise<boolean> {
  const ended = once(child, 'exit');
  while (child.exitCode === null && !(await when())) await pause(1);
  const isRunning = child.exitCode === null;
  child.kill('SIGKILL');
  await ended;
  return isRunning;
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
  const place = await folderFor(t);
  const given = { ...source, redisUrl: source.server.url };
  const pieces = async () => (await names(place)).filter((name) => /[0-9a-f]{64}$/.test(name)).length;
  let cuts = 0;
  for (const least of [0, 1, 2, 4, 7]) {
    const child = start(t, ['create', place], given);
    if (least === 0) await once(child, 'spawn');
    if (await killed(child, async () => (await pieces()) >= least)) cuts += 1;
    const made = (await names(place)).filter((name) => /backups\/[0-9a-f]{64}$/.test(name)).length;
    const listed = JSON.parse(await succeeds(t, ['ls', place, '--json'], source)) as unknown[];
    assert.equal(listed.length, made);
  }
  assert.ok(cuts >= 2, `${cuts} were cut`);
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
  await succeeds(t, ['create', place], given);
  await succeeds(t, ['verify', place], source);
  const machine = await machineFor(t);
  await succeeds(t, ['restore', place, '--redis-dir', machine.dir], machine);
  const restored = await machine.started();
  assert.deepEqual(await contentsOf(restored), whole);
  assert.deepEqual(await digestsOf(restored), before);
});

test('a restore that is killed at any moment leaves no data that a Redis would load, and can be repeated', async (context) => {
  const t = reversed(context);
  const source = await filledFor(t);
  const before = await digestsOf(source);
  const place = await folderFor(t);
  await succeeds(t, ['create', place], { ...source, redisUrl: source.server.url });
  const machine = await machineFor(t);
  const argv = ['restore', place, '--redis-dir', machine.dir];
  let cuts = 0;
  for (const least of [1, 3, 6, 9]) {
    const child = start(t, argv, machine);
    if (await killed(child, async () => (await names(machine.archive)).length >= least)) cuts += 1;
    const data = await stat(join(machine.dir, 'appendonlydir')).catch(() => undefined);
    if (data === undefined) continue;
    await rm(join(machine.dir, 'appendonlydir'), { recursive: true });
  }
  assert.ok(cuts >= 2, `${cuts} were cut`);
  await succeeds(t, argv, machine);
  assert.deepEqual(await digestsOf(await machine.started()), before);
});

test('a backup in an S3 bucket is restored from it, and a second one copies only what is new', async (context) => {
  const t = reversed(context);
  const source = await filledFor(t);
  const s3 = await s3ServerFor(t);
  const place = `s3://${S3_BUCKET}/nightly?endpoint=${s3.url}&region=${S3_KEYS.region}`;
  const env = { ECHELON_BACKUP_ACCESS_KEY: S3_KEYS.accessKey, ECHELON_BACKUP_SECRET_KEY: S3_KEYS.secretKey };
  const given = { ...source, redisUrl: source.server.url, env };
  const puts = () => s3.answered.filter((one) => one.startsWith('PUT')).length;
  await succeeds(t, ['create', place], given);
  const first = puts();
  const before = await digestsOf(source);
  await succeeds(t, ['create', place], given);
  // The snapshot, the manifest and the mark of the command alone.
  assert.equal(puts() - first, 3);
  assert.match(await succeeds(t, ['verify', place], given), /objects of the archive/);
  await succeeds(t, ['prune', place, '--keep-last', '1'], given);
  assert.equal((JSON.parse(await succeeds(t, ['ls', place, '--json'], given)) as unknown[]).length, 1);
  const machine = await machineFor(t);
  await succeeds(t, ['restore', place, '--redis-dir', machine.dir], { ...machine, env });
  assert.deepEqual(await digestsOf(await machine.started()), before);
});

test('a damaged object is found by verify, and a restore of it leaves no data for Redis', async (context) => {
  const t = reversed(context);
  const source = await filledFor(t);
  const place = await folderFor(t);
  await succeeds(t, ['create', place], { ...source, redisUrl: source.server.url });
  const victim = (await names(place)).find((name) => /exp-\w+\/[0-9a-f]{64}$/.test(name))!;
  const bytes = await readFile(join(place, victim));
  await writeFile(join(place, victim), Buffer.concat([bytes.subarray(1), Buffer.from('x')]));
  const found = await echelon(t, ['verify', place], source);
  assert.equal(found.code, 1);
  assert.match(found.text, new RegExp(victim.split('/').slice(-2).join('/')));
  const machine = await machineFor(t);
  const { code, text } = await echelon(t, ['restore', place, '--redis-dir', machine.dir], machine);
  assert.equal(code, 1, text);
  assert.match(text, /is damaged/);
  await assert.rejects(stat(join(machine.dir, 'appendonlydir')));
});

test('a restore is refused over a running installation, over data of a Redis, and over another archive', async (context) => {
  const t = reversed(context);
  const source = await filledFor(t);
  const place = await folderFor(t);
  const given = { ...source, redisUrl: source.server.url };
  await succeeds(t, ['create', place], given);
  const empty = await folderFor(t);
  const before = await digestsOf(source);
  const running = await echelon(t, ['restore', place, '--redis-dir', empty], given);
  assert.match(running.text, /The Redis of the settings answers and holds installation/);
  const over = await echelon(t, ['restore', place, '--redis-dir', source.server.dir], source);
  assert.match(over.text, /has the data of a Redis/);
  const other = await installationFor(t, await redisFor(t), await folderFor(t));
  const foreign = await echelon(t, ['restore', place, '--redis-dir', empty], { archive: other.archive });
  assert.match(foreign.text, /belongs to installation/);
  assert.deepEqual([running.code, over.code, foreign.code], [1, 1, 1]);
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

/** A place with backups of one installation, whose experiments come and go in between. */
async function placeWith(t: Scope, count: number) {
  const source = await filledFor(t);
  const place = await folderFor(t);
  const given = { ...source, redisUrl: source.server.url };
  const gone = await finished(source.store, 0);
  await succeeds(t, ['create', place], given);
  assert.equal(await source.store.experiments.delete(gone), 'deleted');
  // The pause of the backup lasts a little longer than the command.
  await source.redis.del('{echelon}:backup');
  assert.equal(await source.store.retention.collectGarbage(10), 1);
  for (let at = 1; at < count; at++) {
    await finished(source.store, 10 + at);
    await succeeds(t, ['create', place], given);
  }
  const listed = async () =>
    (JSON.parse(await succeeds(t, ['ls', place, '--json'], given)) as { name: string }[]).map(
      ({ name }) => name,
    );
  return { source, place, given, gone, listed };
}

test('a prune deletes old backups with what only they name, and the rest is restored with the same digests', async (context) => {
  const t = reversed(context);
  const { source, place, given, gone, listed } = await placeWith(t, 3);
  const before = await listed();
  const ofGone = async () => (await names(place)).filter((name) => name.includes(gone)).length;
  assert.ok((await ofGone()) > 0);
  const said = await succeeds(t, ['prune', place, '--keep-last', '2'], given);
  assert.match(said, /^Deleted 1 backup with \d+ objects; 2 backups remain\.$/m);
  assert.deepEqual(await listed(), before.slice(0, 2));
  assert.equal(await ofGone(), 0);
  for (const name of before.slice(0, 2)) await succeeds(t, ['verify', place, '--backup', name], given);
  const machine = await machineFor(t);
  await succeeds(t, ['restore', place, '--redis-dir', machine.dir], machine);
  assert.deepEqual(await digestsOf(await machine.started()), await digestsOf(source));
});

test('a prune that is killed at any moment leaves whole backups, and can be repeated', async (context) => {
  const t = reversed(context);
  const { place, given, listed } = await placeWith(t, 3);
  const cut = start(t, ['prune', place, '--keep-last', '1'], given);
  const manifests = async () => (await names(place)).filter((name) => /backups\/[0-9a-f]{64}$/.test(name));
  await killed(cut, async () => (await manifests()).length < 3);
  for (const name of await listed()) await succeeds(t, ['verify', place, '--backup', name], given);
  // A killed command blocks others for a while: its mark is made old.
  for (const mark of (await names(place)).filter((name) => /backup-prune-\w+\/[0-9a-f]{64}$/.test(name))) {
    const refused = await echelon(t, ['create', place], given);
    assert.match(refused.text, /was alive in this place/);
    const old = Buffer.from(String(Date.now() - 11 * 60_000));
    await rm(join(place, mark));
    await writeFile(join(place, mark, '..', createHash('sha256').update(old).digest('hex')), old);
  }
  await succeeds(t, ['prune', place, '--keep-last', '1'], given);
  assert.equal((await listed()).length, 1);
  assert.deepEqual(
    (await names(place)).filter((name) => /backup-(prune|create)/.test(name)),
    [],
  );
  await succeeds(t, ['create', place], given);
});

test('a prune deletes nothing if no backup that stays is whole, while a backup is made, and in an archive', async (context) => {
  const t = reversed(context);
  const { source, place, given, listed } = await placeWith(t, 2);
  const [newest] = await listed();
  const files = (await names(place)).sort();
  const refused = async (of: string, message: RegExp) => {
    const { code, text } = await echelon(t, ['prune', of, '--keep-last', '1'], given);
    assert.equal(code, 1, text);
    assert.match(text, message);
  };
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
