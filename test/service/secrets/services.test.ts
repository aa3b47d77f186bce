import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSettings } from '../../../src/config/settings.ts';
import { startServices } from '../../../src/main.ts';
import { until } from '../../support/dispatch.ts';
import { redisFor } from '../../support/redis.ts';
import { storeFor } from '../../support/store.ts';

/*
 * Masking helps only if the processes use it. The clusters here have their tokens as names, so a log of the name
 * would show the token. Seen to fail if main.ts passes no `redact` to its log, and without `hideTokens`.
 */
test('the log of the services shows no token from their settings or from the store', async (t) => {
  const stateDir = await mkdtemp(join(tmpdir(), 'echelon-services-'));
  t.after(() => rm(stateDir, { recursive: true, force: true }));
  const server = await redisFor(t);
  const made = (name: string) => `${name}-${randomBytes(12).toString('hex')}`;
  const [given, found, control] = [made('given'), made('found'), made('control')];
  const named = (name: string, token = name) => ({ name, address: '127.0.0.1:1', token });
  const settings = loadSettings({ REDIS_URL: server.url, ECHELON_STATE_DIR: stateDir, ECHELON_PORT: '0' });
  const { store } = await storeFor(t, { server });
  const rest = { backfill: false, generation: null, lastSeenAt: null, nodes: [], ca: null };
  await store.clusters.put({ ...named(found), ...rest });
  const logFile = join(stateDir, 'services.log');
  const services = await startServices({
    roles: ['api', 'dispatcher'],
    settings,
    redis: null,
    logFile,
    clusters: [named(given), named(control, made('another'))],
  });
  // Stop the services before `t` stops Redis.
  await using resources = new AsyncDisposableStack();
  resources.defer(() => services.stop());
  const silent = (text: string) => text.match(/does not answer/g)?.length ?? 0;
  const log = await until(async () => {
    const text = await readFile(logFile, 'utf8');
    return silent(text) >= 3 && text;
  }, 'the dispatcher says of each cluster that it does not answer');
  assert.ok(log.includes(control), 'the search would not find a leak');
  for (const token of [given, found]) assert.ok(!log.includes(token), token.slice(0, 6));
});
