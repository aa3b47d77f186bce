import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { loadSettings } from '../../../src/config/settings.ts';
import { startServices } from '../../../src/main.ts';
import { redisFor } from '../../support/redis.ts';
import { storeFor } from '../../support/store.ts';

/*
 * Two clusters through the server as composed for production: every layer between a route and the store must pass
 * on the name of the cluster.
 */

// The services stop before their Redis, which is stopped by a hook that is added later.
const resources = new AsyncDisposableStack();
after(() => resources.disposeAsync());
const stateDir = await mkdtemp(join(tmpdir(), 'echelon-by-name-'));
resources.defer(() => rm(stateDir, { recursive: true, force: true }));
const server = await redisFor({ after });
const { store } = await storeFor({ after }, { server });
const settings = loadSettings({ REDIS_URL: server.url, ECHELON_STATE_DIR: stateDir, ECHELON_PORT: '0' });
const named = (name: string) => ({ name, address: '127.0.0.1:1', token: `token-of-${name}` });
const services = await startServices({
  roles: ['api'],
  settings,
  redis: null,
  logFile: join(stateDir, 'services.log'),
  clusters: [named('first'), named('second')],
});
resources.defer(() => services.stop());

async function call(method: string, path: string, body?: unknown) {
  const answer = await fetch(`${services.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${services.token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const CHANGES: [method: string, path: string, body?: unknown][] = [
  ['PATCH', '', { labels: { zone: 'b' } }],
  ['POST', '/pause', { reason: 'maintenance' }],
  ['POST', '/resume'],
  ['POST', '/drain'],
  ['POST', '/preflight'],
  ['DELETE', ''],
];

test('a request for an unknown cluster gets 404 and changes no other cluster', async () => {
  const before = await store.clusters.list();
  assert.equal((await call('GET', '/v1/clusters/third')).status, 404);
  for (const [method, path, body] of CHANGES) {
    const { status, body: problem } = await call(method, `/v1/clusters/third${path}`, body);
    assert.deepEqual([method, path, status, problem.code], [method, path, 404, 'cluster-not-found']);
  }
  assert.deepEqual(await store.clusters.list(), before);
  assert.deepEqual(await store.commands.open(), []);
  assert.deepEqual((await store.queue.pauses()).clusters.size, 0);
});

test('a request for a cluster reaches that cluster among several', async () => {
  for (const name of ['first', 'second']) {
    assert.equal((await call('GET', `/v1/clusters/${name}`)).body.name, name);
    for (const [method, path, body] of CHANGES) {
      const { status } = await call(method, `/v1/clusters/${name}${path}`, body);
      assert.ok(status === 200 || status === 202, `${method} ${path}: ${status}`);
    }
  }
  const zones = (await store.clusters.list()).map(({ name, labels }) => [name, labels]);
  assert.deepEqual(zones, [
    ['first', { zone: 'b' }],
    ['second', { zone: 'b' }],
  ]);
  const commands = (await store.commands.open()).map(({ cluster }) => cluster);
  assert.deepEqual(commands.toSorted(), ['first', 'first', 'first', 'second', 'second', 'second']);
});

test('the audit log names the cluster of every request', async () => {
  const { body } = await call('GET', '/v1/audit?limit=100');
  const entries = body.items as { action: string; target: string; outcome: string }[];
  const targets = (action: string, outcome: string) =>
    entries
      .filter((entry) => entry.action === action && entry.outcome === outcome)
      .map(({ target }) => target);
  for (const action of [
    'changeCluster',
    'pauseCluster',
    'resumeCluster',
    'drainCluster',
    'preflightCluster',
    'removeCluster',
  ]) {
    assert.deepEqual(targets(action, 'refused'), ['third'], action);
    assert.deepEqual(targets(action, 'done').toSorted(), ['first', 'second'], action);
  }
});
