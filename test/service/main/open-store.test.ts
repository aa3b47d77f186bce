import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { loadSettings, SettingsError } from '../../../src/config/settings.ts';
import {
  checkStore,
  commandTimeout,
  openRedis,
  openStore,
  redisPlace,
  type StorePatience,
} from '../../../src/main/open-store.ts';
import { createLog } from '../../../src/observe/log.ts';
import { until } from '../../support/dispatch.ts';
import { type RedisServer, redisFor } from '../../support/redis.ts';
import { coded, type Scope } from '../../support/store.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

async function settingsFor(scope: Scope, environment: Record<string, string>) {
  const stateDir = await mkdtemp(join(tmpdir(), 'echelon-open-'));
  scope.after(() => rm(stateDir, { recursive: true, force: true }));
  return loadSettings({ ECHELON_STATE_DIR: stateDir, ...environment });
}

const LOG = createLog({ level: 'silent', name: 'test' });
const PATIENCE: StorePatience = { commandMs: 5_000, start: (step) => step() };
const at = (server: RedisServer) => ({ REDIS_URL: server.url });

test('without an address there is no place', () => {
  assert.throws(() => redisPlace(loadSettings({})), SettingsError);
  const settings = loadSettings({ REDIS_URL: 'redis://a:1' });
  assert.deepEqual(redisPlace(settings), { url: 'redis://a:1' });
});

test('a Redis that keeps what it accepts is taken, by its address and by its socket', async (t) => {
  const server = await redisFor(t);
  const settings = await settingsFor(t, at(server));
  await checkStore(settings);
  await using resources = new AsyncDisposableStack();
  const { store } = await openStore(
    { place: { path: server.socket }, settings, log: LOG, resources },
    PATIENCE,
  );
  assert.deepEqual(await store.clusters.list(), []);
});

test('one that may lose it is refused, unless it was said to be wanted', async (t) => {
  const server = await redisFor(t, { appendfsync: 'no' });
  await assert.rejects(checkStore(await settingsFor(t, at(server))), coded('store-misconfigured'));
  await checkStore(await settingsFor(t, { ...at(server), ECHELON_ALLOW_UNFIT_REDIS: 'true' }));
});

test('one that answers without a password is refused unless it is on loopback', async (t) => {
  const server = await redisFor(t);
  // This machine too, but not by a name of loopback.
  const url = server.url.replace(/127\.0\.0\.1|localhost/, '0.0.0.0');
  const open = await settingsFor(t, { REDIS_URL: url });
  await assert.rejects(checkStore(open), (error: Error) => /without a password/.test(error.message));
  await checkStore({ ...open, allowUnfitRedis: true });
  const admin = new Redis(server.url);
  t.after(async () => admin.disconnect());
  await admin.config('SET', 'requirepass', 'right-password');
  await checkStore({ ...open, redisPassword: 'right-password' });
});

test('the password of the settings is given, and one in the address wins', async (t) => {
  const server = await redisFor(t);
  const admin = new Redis(server.url);
  t.after(async () => admin.disconnect());
  await admin.config('SET', 'requirepass', 'right-password');
  const wrong = await settingsFor(t, { ...at(server), REDIS_PASSWORD: 'wrong-password' });
  await assert.rejects(checkStore(wrong));
  await checkStore({ ...wrong, redisPassword: 'right-password' });
  await checkStore({ ...wrong, redisUrl: server.url.replace('//', '//:right-password@') });
});

test('commands of a connection of its own fail while Redis is away', async (t) => {
  const server = await redisFor(t);
  const settings = await settingsFor(t, at(server));
  await using resources = new AsyncDisposableStack();
  const redis = openRedis({ place: redisPlace(settings), settings, log: LOG, resources }, 5_000);
  await once(redis, 'ready');
  assert.equal(await redis.ping(), 'PONG');
  await server.kill();
  await assert.rejects(redis.ping());
});

/* Fails with a timeout of commands alone: they fail on the same connection for as long as it is half open. */
test('the store answers after its connection became half open', async (t) => {
  const server = await redisFor(t);
  const proxy = await startTcpProxy(`127.0.0.1:${server.port}`);
  t.after(() => proxy.stop());
  const settings = await settingsFor(t, { REDIS_URL: `redis://${proxy.address}` });
  await using resources = new AsyncDisposableStack();
  const { store } = await openStore(
    { place: redisPlace(settings), settings, log: LOG, resources },
    { ...PATIENCE, commandMs: 300 },
  );
  proxy.freeze();
  await assert.rejects(store.clusters.list(), coded('store-unavailable'));
  await until(() => store.clusters.list().catch(() => undefined), 'the store answers');
});

test('it is closed with the rest', async (t) => {
  const server = await redisFor(t);
  const settings = await settingsFor(t, at(server));
  const resources = new AsyncDisposableStack();
  const redis = openRedis({ place: redisPlace(settings), settings, log: LOG, resources }, 5_000);
  await once(redis, 'ready');
  const ended = once(redis, 'end');
  await resources.disposeAsync();
  await ended;
});

test('a dispatcher waits for Redis as long as its lease, an api as long as its setting says', () => {
  const settings = loadSettings({ ECHELON_REDIS_TIMEOUT_MS: '2000', ECHELON_LEASE_MS: '9000' });
  assert.equal(commandTimeout(settings, ['api']), 2000);
  assert.equal(commandTimeout(settings, ['api', 'dispatcher']), 9000);
  assert.equal(commandTimeout({ ...settings, leaseMs: 300 }, ['dispatcher']), 2000);
});

/* Fails where the archive is not bound: the second process would look for bytes where the first one put none. */
test('a process whose archive is not that of the others does not start', async (t) => {
  const server = await redisFor(t);
  await checkStore(await settingsFor(t, at(server)));
  await assert.rejects(checkStore(await settingsFor(t, at(server))), coded('archive-mismatch'));
});
