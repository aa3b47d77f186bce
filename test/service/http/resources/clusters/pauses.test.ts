import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { appFor } from '../../../../support/http-app.ts';
import { clusterRecord, storeFor } from '../../../../support/store.ts';

const scope = { after };
const { store } = await storeFor(scope);
const { call } = await appFor(scope, { store, now: () => 1_000 });
await store.clusters.put(clusterRecord({ generation: 'g', lastSeenAt: 5 }));

test('a cluster is paused immediately, and resume ends a pause and a drain', async () => {
  const paused = (await call('POST', '/v1/clusters/local/pause', { body: { reason: 'dust' } })).json();
  assert.equal(paused.paused.reason, 'dust');
  await store.clusters.setDraining('local', true);
  const resumed = (await call('POST', '/v1/clusters/local/resume')).json();
  assert.deepEqual([resumed.paused, resumed.draining], [null, false]);
  assert.equal((await call('POST', '/v1/clusters/none/pause')).json().code, 'cluster-not-found');
  assert.equal((await call('POST', '/v1/clusters/local/resume', { body: {} })).statusCode, 400);
  assert.equal((await call('POST', '/v1/clusters/local/pause', { body: { why: 'x' } })).statusCode, 400);
});

test('PATCH changes labels and backfill, and a spec with labels that no cluster has is refused', async () => {
  const changed = await call('PATCH', '/v1/clusters/local', {
    body: { labels: { gpu: 'h100' }, backfill: true },
  });
  assert.deepEqual([changed.json().labels, changed.json().backfill], [{ gpu: 'h100' }, true]);
  for (const body of [{}, { labels: { 'a b': 'c' } }, { labels: { a: '' } }, { name: 'x' }])
    assert.equal((await call('PATCH', '/v1/clusters/local', { body })).statusCode, 400, JSON.stringify(body));
  const spec = (clusterLabels: object) => ({
    body: { engine: 'replay', name: 'x', replay: { batches: 3 }, clusterLabels },
  });
  const refused = await call('POST', '/v1/experiments', spec({ gpu: 'h10' }));
  assert.equal(refused.json().problems[0].field, '/clusterLabels');
  assert.match(refused.json().problems[0].message, /did you mean gpu=h100/);
  const accepted = await call('POST', '/v1/experiments', spec({ gpu: 'h100' }));
  assert.equal(accepted.statusCode, 202, accepted.body);
  const [waiting] = (await store.queue.first(10)).filter((one) => one.experiment === accepted.json().id);
  assert.deepEqual(waiting?.labels, { gpu: 'h100' });
});
