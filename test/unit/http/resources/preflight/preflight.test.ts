import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeKey, makeProjects } from '../../../../support/access.ts';
import { appFor, LOCAL } from '../../../../support/http-app.ts';
import { storeFor } from '../../../../support/store.ts';

const scope = { after };
const { store } = await storeFor(scope);
const { call } = await appFor(scope, { store });
const node = (gpusTotal: number) => ({ id: 'n', cpusTotal: 64, gpusTotal, cpusUsed: 0, gpusUsed: 0 });
const cluster = (name: string, gpus: number, lastSeenAt: number) => ({
  ...{ name, address: '127.0.0.1:9', token: 't', ca: null, backfill: false, generation: 'g', lastSeenAt },
  nodes: [node(gpus)],
});
const VERL = { name: 'v', engine: 'verl-agent', recipe: 'qwen2.5_1.5b_alfworld_train' };

async function take(id: string) {
  const answer = await store.commands.claim({ id, dispatcher: 'd', leaseMs: 60_000 });
  assert.ok(answer.outcome === 'claimed');
  return answer.claimed;
}

test('without a cluster there is nothing to look at', async () => {
  assert.equal((await call('POST', '/v1/preflight', { body: LOCAL })).json().code, 'cluster-not-found');
});

test('a preflight is a command on a cluster where the spec fits; what it found is read at its own path', async () => {
  await store.clusters.put(cluster('small', 0, 2000));
  await store.clusters.put(cluster('large', 4, 1000));
  const response = await call('POST', '/v1/preflight', { body: VERL });
  assert.equal(response.statusCode, 202);
  const { id, kind, cluster: chosen } = response.json();
  assert.deepEqual([kind, chosen, response.headers.location], ['preflight', 'large', `/v1/preflight/${id}`]);
  const claimed = await take(id);
  const { spec, defaults } = claimed.request as { spec: { recipe: string }; defaults: string[] };
  assert.equal(spec.recipe, VERL.recipe);
  assert.ok(defaults.includes('/rollout/groups'));
  const findings = [{ severity: 'warning', check: 'memory', message: 'tight', remedy: 'offload' }] as const;
  await store.commands.end(claimed.lease, { state: 'succeeded', problems: [], findings });
  const found = await call('GET', `/v1/preflight/${id}`);
  assert.deepEqual(found.json().findings, findings);
  assert.equal((await call('POST', '/v1/preflight', { body: LOCAL })).json().cluster, 'small');
});

test('a spec that is not valid, or names no cluster, begins nothing', async () => {
  const before = await store.commands.open();
  const bad = { ...VERL, overrides: { 'algorithm.use_kl_in_reward': true } };
  const response = await call('POST', '/v1/preflight', { body: bad });
  assert.deepEqual([response.statusCode, response.json().code], [400, 'invalid-spec']);
  const unknown = await call('POST', '/v1/preflight', { body: { ...VERL, cluster: 'lage' } });
  assert.deepEqual([unknown.statusCode, unknown.json().problems[0].field], [400, '/cluster']);
  assert.match(unknown.json().problems[0].message, /did you mean large/);
  assert.deepEqual(await store.commands.open(), before);
});

test('a preflight is of a cluster that has the labels which the spec asks for', async () => {
  await store.clusters.put(cluster('labelled', 4, 500));
  await store.clusters.set('labelled', { labels: { zone: 'a' } });
  const of = (clusterLabels: object) => call('POST', '/v1/preflight', { body: { ...VERL, clusterLabels } });
  assert.equal((await of({ zone: 'a' })).json().cluster, 'labelled');
  assert.equal((await of({ zone: 'b' })).json().problems[0].field, '/clusterLabels');
  await store.clusters.remove('labelled');
});

test('a cluster is looked at without a spec, and that command is no preflight of anybody', async () => {
  const response = await call('POST', '/v1/clusters/large/preflight');
  const { id } = response.json();
  assert.equal(response.headers.location, `/v1/commands/${id}`);
  assert.deepEqual((await take(id)).request, {});
  assert.equal((await call('GET', `/v1/preflight/${id}`)).statusCode, 404);
  assert.equal((await call('GET', '/v1/preflight/cmd-00000000000000000000')).statusCode, 404);
  const body = await call('POST', '/v1/clusters/large/preflight', { body: {} });
  assert.equal(body.statusCode, 400);
});

test('another project sees neither the preflight nor what it found', async () => {
  const { id } = (await call('POST', '/v1/preflight', { body: LOCAL })).json();
  await makeProjects(store, 'elsewhere');
  const { token } = await makeKey(store, { project: 'elsewhere', scopes: ['read', 'submit'] });
  const foreign = await call('GET', `/v1/preflight/${id}`, { token });
  const unknown = await call('GET', '/v1/preflight/cmd-00000000000000000000', { token });
  assert.deepEqual([foreign.statusCode, unknown.statusCode], [404, 404]);
  assert.equal((await call('POST', '/v1/clusters/large/preflight', { token })).statusCode, 403);
});

test('custom code needs its scope', async () => {
  const { token } = await makeKey(store, { scopes: ['read', 'submit'] });
  const body = { ...VERL, allowCustomCode: true, overrides: { 'data.trust_remote_code': true } };
  const refused = await call('POST', '/v1/preflight', { body, token });
  assert.match(refused.json().problems[0].message, /scope custom-code/);
  assert.equal((await call('POST', '/v1/preflight', { body })).statusCode, 202);
});

test('a crowd of preflights is refused', async () => {
  let last = 0;
  for (let count = 0; count < 9; count += 1) {
    last = (await call('POST', '/v1/preflight', { body: VERL })).statusCode;
  }
  assert.equal(last, 409);
});
