import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeChild } from '../../../src/plan/sweep.ts';
import { makeKey, makeProjects } from '../../support/access.ts';
import { appFor, REPLAY } from '../../support/http-app.ts';
import { claimed, clusterRecord, storeFor } from '../../support/store.ts';

const { store } = await storeFor({ after });
await makeProjects(store, 'mine', 'theirs');
await store.clusters.put(clusterRecord({ name: 'shared', address: 'h:1' }));
const { call } = await appFor({ after }, { store });

const LISTED = 's3://runs/mine?region=eu-1';
const OWN = 's3://attacker/x?scheme=http&endpoint_override=evil.example.org:80';
const allow = (checkpointStores: object) =>
  call('PATCH', '/v1/clusters/shared', { body: { checkpointStores } });

/** The status of each route that takes a spec with this store, and the texts of its refusals. */
async function answers(url: string, token: string) {
  const spec = { ...REPLAY, cluster: 'shared', checkpointStore: { url } };
  const { name: _name, checkpointStore: _store, ...base } = spec;
  const stored = { ...base, checkpointStore: { url } };
  const found: { status: number; body: string }[] = [];
  for (const [path, body] of [
    ['/v1/experiments', spec],
    ['/v1/plans', spec],
    ['/v1/preflight', spec],
    ['/v1/queues/what-if', { spec }],
    ['/v1/sweeps', { name: 's', method: 'grid', spec: stored, axes: { priority: [1, 2] } }],
    ['/v1/sweeps', { name: 's', method: 'grid', spec: base, axes: { 'checkpointStore.url': [url] } }],
  ] as const) {
    const { statusCode, body: text } = await call('POST', path, { token, body });
    found.push({ status: statusCode, body: `${path}: ${text}` });
  }
  return found;
}

test('no key gives a training a store that an operator did not list for its project on the cluster', async () => {
  const scopes = ['read', 'submit', 'custom-code'] as const;
  const mine = await makeKey(store, { project: 'mine', scopes: ['read', 'submit'] });
  const code = await makeKey(store, { project: 'mine', scopes: [...scopes] });
  const theirs = await makeKey(store, { project: 'theirs', scopes: [...scopes] });
  const assertRefused = async (url: string, token: string) => {
    for (const { status, body } of await answers(url, token)) {
      assert.equal(status, 400, body);
      assert.match(body, /\/checkpointStore\/url.*is not below an object store that the project/);
    }
  };
  // Without a list there is no store.
  for (const { token } of [mine, code, theirs]) await assertRefused(LISTED, token);
  assert.equal((await allow({ [LISTED]: ['mine'], 's3://all': ['*'] })).statusCode, 200);
  for (const { token } of [mine, code, theirs]) await assertRefused(OWN, token);
  await assertRefused(LISTED, theirs.token);
  for (const { token } of [mine, code])
    for (const { status, body } of await answers(`${LISTED.replace('?', '/deeper?')}`, token))
      assert.ok(status < 300, body);
});

test('a key of a project sees the stores of its own project only, and another key without admin changes none', async () => {
  await allow({ [LISTED]: ['mine', 'theirs'], 's3://theirs-1': ['theirs'] });
  const { token } = await makeKey(store, { project: 'mine', scopes: ['read', 'submit'] });
  const seen = await call('GET', '/v1/clusters/shared', { token });
  assert.deepEqual(seen.json().checkpointStores, { [LISTED]: ['mine'] });
  const changed = await call('PATCH', '/v1/clusters/shared', { token, body: { checkpointStores: {} } });
  assert.equal(changed.statusCode, 403);
});

test('an operator cannot list a metadata address', async () => {
  const refused = await allow({ 's3://bucket/p?endpoint_override=169.254.169.254': ['*'] });
  assert.equal(refused.statusCode, 400);
  assert.match(refused.body, /169\.254\.169\.254/);
});

test('a cluster that is added under the name of a removed one has none of its permissions', async () => {
  const permissions = { checkpointStores: { [LISTED]: ['*'] }, runtimeEnv: ['pip'], codePaths: ['/srv'] };
  await store.clusters.put(clusterRecord({ name: 'brief', address: 'h:1' }));
  await call('PATCH', '/v1/clusters/brief', { body: permissions });
  await store.clusters.remove('brief');
  await store.clusters.put(clusterRecord({ name: 'brief', address: 'h:2' }));
  const { checkpointStores, runtimeEnv, codePaths } = (await call('GET', '/v1/clusters/brief')).json();
  assert.deepEqual(
    { checkpointStores, runtimeEnv, codePaths },
    {
      checkpointStores: {},
      runtimeEnv: [],
      codePaths: [],
    },
  );
  await store.clusters.remove('brief');
});

test('a sweep whose store or runtime environment was withdrawn is not run again, whatever the scopes of the caller', async () => {
  const { token } = await makeKey(store, { scopes: ['read', 'submit', 'custom-code'] });
  const { name: _name, ...replay } = { ...REPLAY, cluster: 'shared', checkpointStore: { url: LISTED } };
  const command = { engine: 'command', command: ['true'], cluster: 'shared', runtimeEnv: { pip: ['wheel'] } };
  await allow({ [LISTED]: ['*'] });
  await call('PATCH', '/v1/clusters/shared', { body: { runtimeEnv: ['pip'] } });
  const sweeps: string[] = [];
  for (const spec of [replay, command]) {
    const body = { name: 's', method: 'grid', spec, axes: { priority: [1] } };
    const { id } = (await call('POST', '/v1/sweeps', { token, body })).json();
    const { made } = await store.sweeps.expand(id, makeChild);
    const lease = await claimed(store, made[0]!.experiment);
    await store.attempts.end(lease, { to: 'failed', reason: '' });
    sweeps.push(id);
  }
  const rerun = async () =>
    await Promise.all(sweeps.map((id) => call('POST', `/v1/sweeps/${id}/rerun-failed`, { token })));
  await allow({});
  await call('PATCH', '/v1/clusters/shared', { body: { runtimeEnv: [] } });
  const [store_, environment] = await rerun();
  assert.equal(store_!.statusCode, 400);
  assert.match(store_!.body, /\/checkpointStore\/url/);
  assert.equal(environment!.statusCode, 400);
  assert.match(environment!.body, /\/runtimeEnv\/pip/);
  await allow({ [LISTED]: ['*'] });
  await call('PATCH', '/v1/clusters/shared', { body: { runtimeEnv: ['pip'] } });
  for (const answer of await rerun()) assert.equal(answer.json().rerun, 1, answer.body);
});
