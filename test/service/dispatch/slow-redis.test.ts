import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient } from '../../../src/cli/client.ts';
import { loadSettings } from '../../../src/config/settings.ts';
import { startServices } from '../../../src/main.ts';

import { until } from '../../support/dispatch.ts';
import { startFakeRayWorker } from '../../support/fake-ray-worker.ts';
import { REPLAY } from '../../support/http-app.ts';
import { redisFor } from '../../support/redis.ts';
import { coded, type Scope, storeFor } from '../../support/store.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

const TOKEN = 'a-token-for-tests-only';

async function settingsFor(scope: Scope, redisUrl: string, environment: Record<string, string> = {}) {
  const stateDir = await mkdtemp(join(tmpdir(), 'echelon-slow-'));
  scope.after(() => rm(stateDir, { recursive: true, force: true }));
  return loadSettings({
    ECHELON_STATE_DIR: stateDir,
    REDIS_URL: redisUrl,
    ECHELON_PORT: '0',
    ECHELON_TOKENS: TOKEN,
    ECHELON_LOG_LEVEL: 'silent',
    ...environment,
  });
}

/* Fails with a timeout of 400 ms: each submission gets 503, and the processes end as they start. */
test('with a Redis whose every answer takes half a second, submissions are accepted and experiments run', async (t) => {
  const { server, store } = await storeFor(t);
  const proxy = await startTcpProxy(`127.0.0.1:${server.port}`);
  proxy.delay(250);
  t.after(() => proxy.stop());
  const directory = await mkdtemp(join(tmpdir(), 'echelon-slow-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const rayWorker = await startFakeRayWorker({ directory });
  t.after(() => rayWorker.stop());
  const settings = await settingsFor(t, `redis://${proxy.address}`);
  const clusters = [{ name: 'fake', address: rayWorker.address, token: 'fake-token' }];
  const services = await startServices({ roles: ['api', 'dispatcher'], settings, redis: null, clusters });
  try {
    const client = createClient({ url: services.url!, token: TOKEN });
    const submissions = Array.from({ length: 5 }, () => client.post('/v1/experiments', { body: REPLAY }));
    const ids = (await Promise.all(submissions)).map(({ id }) => id);
    await until(
      async () => {
        const states = await Promise.all(ids.map(async (id) => (await store.experiments.get(id))?.state));
        return states.every((state) => state === 'succeeded');
      },
      'all have succeeded',
      { instead: () => Promise.all(ids.map((id) => store.experiments.get(id))) },
    );
  } finally {
    await services.stop();
    // Only then may Redis go away: what is left of a stop in a slow Redis is done after it.
    await until(() => proxy.connections() === 0, 'no connection is left');
  }
});

test('a starting process waits for an unreachable Redis for a bounded time', async (t) => {
  const server = await redisFor(t);
  await server.kill();
  const hasty = await settingsFor(t, server.url, { ECHELON_START_WAIT_MS: '0' });
  const starting = { roles: ['api' as const], redis: null, clusters: [] };
  await assert.rejects(startServices({ ...starting, settings: hasty }), coded('store-unavailable'));

  const starts = startServices({ ...starting, settings: await settingsFor(t, server.url) });
  await server.start();
  const services = await starts;
  const { status } = await fetch(`${services.url}/readyz`);
  await services.stop();
  assert.equal(status, 200);
});
