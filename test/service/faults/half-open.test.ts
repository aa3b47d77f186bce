import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { createClient } from '../../../src/cli/client.ts';
import { loadSettings } from '../../../src/config/settings.ts';
import { startServices } from '../../../src/main.ts';
import { until } from '../../support/dispatch.ts';
import { startFakeRayWorker } from '../../support/fake-ray-worker.ts';
import { REPLAY } from '../../support/http-app.ts';
import { type Scope, storeFor } from '../../support/store.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

const TOKEN = 'a-token-for-tests-only';

/** An api and a dispatcher that reach Redis through a proxy. */
async function startProxiedFleet(t: Scope, timeoutMs: number) {
  const resources = new AsyncDisposableStack();
  t.after(() => resources.disposeAsync());
  const releases = { after: (release: () => Promise<void>) => resources.defer(release) };
  const { server, store } = await storeFor(releases);
  const proxy = await startTcpProxy(`127.0.0.1:${server.port}`);
  resources.defer(() => proxy.stop());
  const directory = await mkdtemp(join(tmpdir(), 'echelon-half-open-'));
  resources.defer(() => rm(directory, { recursive: true, force: true }));
  const rayWorker = await startFakeRayWorker({ directory });
  resources.defer(() => rayWorker.stop());
  const settings = loadSettings({
    ECHELON_STATE_DIR: directory,
    REDIS_URL: `redis://${proxy.address}`,
    ECHELON_PORT: '0',
    ECHELON_TOKENS: TOKEN,
    ECHELON_LOG_LEVEL: 'silent',
    ECHELON_REDIS_TIMEOUT_MS: String(timeoutMs),
    ECHELON_LEASE_MS: String(timeoutMs),
  });
  const clusters = [{ name: 'fake', address: rayWorker.address, token: 'fake-token' }];
  const services = await startServices({ roles: ['api', 'dispatcher'], settings, redis: null, clusters });
  resources.defer(() => services.stop());
  const client = createClient({ url: services.url!, token: TOKEN });
  async function runs(): Promise<void> {
    const submit = () => client.post('/v1/experiments', { body: REPLAY }).catch(() => undefined);
    const { id } = await until(submit, 'a submission is accepted');
    await until(
      async () => (await store.experiments.get(id))?.state === 'succeeded',
      'the experiment succeeds',
      { instead: () => store.experiments.get(id) },
    );
  }
  return { server, proxy, runs };
}

/* Fails without a socket timeout: no process connects again. */
test('experiments are accepted and run after every connection to Redis became half open', async (t) => {
  const { proxy, runs } = await startProxiedFleet(t, 1_000);
  await runs();
  const before = proxy.accepted();
  proxy.freeze();
  await runs();
  assert.ok(proxy.accepted() > before);
});

/*
 * Fails with a socket timeout on the connection on which BullMQ blocks: it is replaced three times a second. Other connections
 * are replaced rightly if this process stalls for the timeout with a command under way: the answer has not been read then.
 */
test('the connections on which a dispatcher waits for jobs stay open for longer than the timeout', async (t) => {
  const { server, runs } = await startProxiedFleet(t, 300);
  await runs();
  const admin = new Redis(server.url);
  t.after(async () => admin.disconnect());
  const calls = async () =>
    Number(/cmdstat_bzpopmin:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1] ?? 0);
  /** Ids of the connections that wait for jobs: of experiments, and of deliveries. */
  const waiting = async () => {
    const list = String(await admin.call('CLIENT', 'LIST'));
    const ids = [...list.matchAll(/^id=(\d+) .* cmd=bzpopmin /gm)].map(([, id]) => id);
    return ids.length === 2 && ids.sort();
  };
  const first = await until(waiting, 'the dispatcher waits for jobs');
  const before = await calls();
  await until(async () => (await calls()) >= before + 4, 'two waits of each have ended without a job');
  assert.deepEqual(await until(waiting, 'the dispatcher waits again'), first);
});
