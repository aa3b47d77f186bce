import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeKey } from '../../../../support/access.ts';
import { appFor } from '../../../../support/http-app.ts';
import { clusterRecord, storeFor } from '../../../../support/store.ts';

const scope = { after };
const { store } = await storeFor(scope);
const { call } = await appFor(scope, { store });
await store.clusters.put(clusterRecord({ name: 'large', generation: 'g', lastSeenAt: 1000 }));

test('a preflight of a cluster needs no spec, and is not found as the preflight of a spec', async () => {
  const response = await call('POST', '/v1/clusters/large/preflight');
  const { id } = response.json();
  assert.equal(response.headers.location, `/v1/commands/${id}`);
  const taken = await store.commands.claim({ id, dispatcher: 'd', leaseMs: 60_000 });
  assert.ok(taken.outcome === 'claimed');
  assert.deepEqual(taken.claimed.request, {});
  assert.equal((await call('GET', `/v1/preflight/${id}`)).statusCode, 404);
  assert.equal((await call('GET', '/v1/preflight/cmd-00000000000000000000')).statusCode, 404);
  const body = await call('POST', '/v1/clusters/large/preflight', { body: {} });
  assert.equal(body.statusCode, 400);
});

test('a preflight of a cluster needs the scope admin', async () => {
  const { token } = await makeKey(store, { scopes: ['read', 'submit'] });
  assert.equal((await call('POST', '/v1/clusters/large/preflight', { token })).statusCode, 403);
});
