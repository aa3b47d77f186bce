import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSettings } from '../../../src/config/settings.ts';
import { makeKnown } from '../../../src/main/clusters.ts';
import { readFigures, serveMetrics } from '../../../src/main/serve-metrics.ts';
import { createMetrics } from '../../../src/observe/metrics.ts';
import { freePort } from '../../support/redis.ts';
import { running, storeFor, submitInput } from '../../support/store.ts';

test('the figures are those of the store', async (t) => {
  const { store } = await storeFor(t);
  await store.experiments.submit(submitInput());
  await makeKnown(store, [{ name: 'a', address: 'a:1', token: 'first' }]);
  const figures = await readFigures(store, null);
  assert.equal(figures.experiments.queued, 1);
  assert.equal(figures.queueLength, 1);
  assert.deepEqual(
    figures.clusters.map(({ name, allocated }) => [name, allocated]),
    [['a', []]],
  );
  assert.deepEqual(figures.running, []);
  assert.equal(figures.rulesBacklog, 0);
});

test('experiments whose rules have something to look at are counted', async (t) => {
  const { store } = await storeFor(t);
  const lease = await running(store);
  const metrics = { type: 'metrics', step: 1, values: { x: 1 } } as const;
  await store.events.append(lease, [{ sequence: 1, at: 1, event: metrics }]);
  assert.equal((await readFigures(store, null)).rulesBacklog, 1);
});

test('they are served where a port is set, until the end', async (t) => {
  const { store } = await storeFor(t);
  await store.experiments.submit(submitInput());
  const metrics = createMetrics({ role: 'api', version: '1', readStore: () => readFigures(store, null) });
  const port = await freePort();
  const get = (host = '127.0.0.1') => fetch(`http://${host}:${port}/metrics`);
  await using resources = new AsyncDisposableStack();
  const parts = { metrics, store, resources, storeFault: () => null };
  await serveMetrics({ ...parts, settings: loadSettings({ ECHELON_METRICS_PORT: '0' }) });
  await assert.rejects(get());
  const environment = { ECHELON_METRICS_PORT: String(port), ECHELON_METRICS_HOST: '127.0.0.1,127.0.0.2' };
  await serveMetrics({ ...parts, settings: loadSettings(environment) });
  assert.match(await (await get()).text(), /echelon_queue_length\{role="api"\} 1/);
  assert.equal((await get('127.0.0.2')).status, 200);
  await assert.rejects(get('127.0.0.3'));
  await resources.disposeAsync();
  await assert.rejects(get());
});
