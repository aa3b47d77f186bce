import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeKey, makeProjects } from '../../../../support/access.ts';
import { appFor, LOCAL } from '../../../../support/http-app.ts';
import { clusterRecord, storeFor } from '../../../../support/store.ts';

const scope = { after };
const { store } = await storeFor(scope);
const { call } = await appFor(scope, { store });
const node = (gpusTotal: number) => ({ id: 'n', cpusTotal: 64, gpusTotal, cpusUsed: 0, gpusUsed: 0 });
const cluster = (name: string, gpus: number, lastSeenAt: number) =>
  clusterRecord({ name, generation: 'g', lastSeenAt, nodes: [node(gpus)] });
const VERL = { name: 'v', engine: 'verl-agent', recipe: 'qwen2.5_1.5b_alfworld_train' };

async function take(id: string) {
  const answer = await store.commands.claim({ id, dispatcher: 'd', leaseMs: 60_000 });
  assert.ok(answer.outcome === 'claimed');
  return answer.claimed;
}

test('a preflight without any cluster is refused with cluster-not-found', async () => {
  assert.equal((await call('POST', '/v1/preflight', { body: LOCAL })).json().code, 'cluster-not-found');
});

test('a preflight is a command on a cluster with room for the spec, and its findings have a path of their own', async () => {
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

test('an invalid spec and an unknown cluster start no preflight', async () => {
  const before = await store.commands.open();
  const bad = { ...VERL, overrides: { 'algorithm.use_kl_in_reward': true } };
  const response = await call('POST', '/v1/preflight', { body: bad });
  assert.deepEqual([response.statusCode, response.json().code], [400, 'invalid-spec']);
  const unknown = await call('POST', '/v1/preflight', { body: { ...VERL, cluster: 'lage' } });
  assert.deepEqual([unknown.statusCode, unknown.json().problems[0].field], [400, '/cluster']);
  assert.match(unknown.json().problems[0].message, /did you mean large/);
  assert.deepEqual(await store.commands.open(), before);
});

test('a preflight uses a cluster with the labels of the spec', async () => {
  await store.clusters.put(cluster('labelled', 4, 500));
  await store.clusters.set('labelled', { labels: { zone: 'a' } });
  const of = (clusterLabels: object) => call('POST', '/v1/preflight', { body: { ...VERL, clusterLabels } });
  assert.equal((await of({ zone: 'a' })).json().cluster, 'labelled');
  assert.equal((await of({ zone: 'b' })).json().problems[0].field, '/clusterLabels');
  await store.clusters.remove('labelled');
});

test('a key of another project gets 404 for a preflight', async () => {
  const { id } = (await call('POST', '/v1/preflight', { body: LOCAL })).json();
  await makeProjects(store, 'elsewhere');
  const { token } = await makeKey(store, { project: 'elsewhere', scopes: ['read', 'submit'] });
  const foreign = await call('GET', `/v1/preflight/${id}`, { token });
  const unknown = await call('GET', '/v1/preflight/cmd-00000000000000000000', { token });
  assert.deepEqual([foreign.statusCode, unknown.statusCode], [404, 404]);
  assert.equal((await call('POST', '/v1/clusters/large/preflight', { token })).statusCode, 403);
});

test('a preflight with custom code needs the scope custom-code', async () => {
  const { token } = await makeKey(store, { scopes: ['read', 'submit'] });
  const body = { ...VERL, allowCustomCode: true, overrides: { 'data.trust_remote_code': true } };
  const refused = await call('POST', '/v1/preflight', { body, token });
  assert.match(refused.json().problems[0].message, /scope custom-code/);
  assert.equal((await call('POST', '/v1/preflight', { body })).statusCode, 202);
});

test('the ninth pending preflight of a cluster is refused', async () => {
  let last = 0;
  for (let count = 0; count < 9; count += 1) {
    last = (await call('POST', '/v1/preflight', { body: VERL })).statusCode;
  }
  assert.equal(last, 409);
});
