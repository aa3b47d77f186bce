import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startMetricsServer } from '../../../src/observe/metrics-server.ts';

async function serverFor(t: { after(release: () => Promise<void>): void }, parts = {}) {
  const server = await startMetricsServer({
    host: '127.0.0.1',
    port: 0,
    metrics: { contentType: 'text/plain; version=0.0.4', text: async () => 'a 1\n' },
    ready: async () => {},
    ...parts,
  });
  t.after(() => server.close());
  return (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${server.port}${path}`, init);
}

test('serves metrics, health and readiness, and nothing else', async (t) => {
  const get = await serverFor(t);
  const metrics = await get('/metrics');
  assert.equal(metrics.headers.get('content-type'), 'text/plain; version=0.0.4');
  assert.equal(await metrics.text(), 'a 1\n');
  assert.deepEqual(
    await Promise.all(
      ['/healthz', '/readyz', '/', '/metrics/x'].map(async (path) => (await get(path)).status),
    ),
    [200, 200, 404, 404],
  );
  assert.equal((await get('/metrics', { method: 'POST' })).status, 405);
});

test('is healthy but not ready while the store is away', async (t) => {
  const get = await serverFor(t, { ready: () => Promise.reject(new Error('away')) });
  assert.equal((await get('/healthz')).status, 200);
  assert.equal((await get('/readyz')).status, 503);
});

test('a fault while the metrics are made is an answer without its text', async (t) => {
  const broken = { contentType: 'text/plain', text: () => Promise.reject(new Error('secret')) };
  const response = await (await serverFor(t, { metrics: broken }))('/metrics');
  assert.equal(response.status, 500);
  assert.doesNotMatch(await response.text(), /secret/);
});
