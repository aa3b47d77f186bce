import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { COMMAND_ID } from '../../../../../src/core/ids.ts';
import { appFor } from '../../../../support/http-app.ts';
import { claimed, clusterRecord, storeFor, submitInput } from '../../../../support/store.ts';

const scope = { after };
const { store, redis } = await storeFor(scope);
const { call, logged } = await appFor(scope, { store });
const NODE = { id: 'node-1', cpusTotal: 8, gpusTotal: 2, cpusUsed: 1, gpusUsed: 0 };
const RAY = {
  address: 'ray://h:10001',
  token: 'CANARY-RAY',
  tls: { key: 'CANARY-KEY' },
  sharedRoot: '/s',
  node: null,
  port: null,
  advertise: null,
};
await store.clusters.put(
  clusterRecord({
    token: 'CANARY-TOKEN',
    ca: 'CANARY-CA',
    backfill: true,
    generation: 'g1',
    lastSeenAt: Date.now(),
    nodes: [NODE],
    ray: RAY,
    rayVersion: '2.60.0',
  }),
);
const ADD = { name: 'new', address: 'ray://h:10001', sharedRoot: '/shared' };

test('POST /v1/clusters records a command with a Location, and no answer, log or request shows the token', async () => {
  const body = { ...ADD, token: 'CANARY-SENT', tls: { ca: 'CANARY-PEM' }, port: 7400 };
  const response = await call('POST', '/v1/clusters', { body });
  assert.equal(response.statusCode, 202);
  const { id, kind, state, cluster } = response.json();
  assert.match(id, COMMAND_ID);
  assert.deepEqual(
    [kind, state, cluster, response.headers.location],
    ['add', 'queued', 'new', `/v1/commands/${id}`],
  );
  assert.ok((await store.commands.open()).some((open) => open.id === id && open.cluster === 'new'));
  const polled = await call('GET', `/v1/commands/${id}`);
  assert.deepEqual(polled.json(), response.json());
  assert.ok(!`${response.body}${polled.body}${JSON.stringify(logged)}`.includes('CANARY'));
  const taken = await store.commands.claim({ id, dispatcher: 'd', leaseMs: 1000 });
  assert.ok(taken.outcome === 'claimed');
  assert.deepEqual(JSON.parse(taken.claimed.secret!), { token: 'CANARY-SENT', tls: { ca: 'CANARY-PEM' } });
  assert.deepEqual(taken.claimed.request, {
    address: 'ray://h:10001',
    sharedRoot: '/shared',
    node: null,
    port: 7400,
    advertise: null,
    backfill: false,
  });
  assert.ok(!JSON.stringify(await redis.hget(`{echelon}:command:${id}`, 'request')).includes('CANARY'));
});

test('an invalid cluster is refused with its field, and no command is recorded', async () => {
  const before = await store.commands.open();
  for (const [change, field] of [
    [{ address: 'h:1' }, '/address'],
    [{ shared_root: '/x' }, '/shared_root'],
    [{ token: 5 }, '/token'],
  ] as const) {
    const response = await call('POST', '/v1/clusters', { body: { ...ADD, ...change } });
    assert.equal(response.statusCode, 400);
    assert.equal(response.json().problems[0].field, field);
  }
  assert.deepEqual(await store.commands.open(), before);
});

test('a cluster is shown without its secrets, and an unknown cluster gets 404 with the nearest name', async () => {
  const response = await call('GET', '/v1/clusters/local');
  const { answering, draining, rayAddress, rayVersion } = response.json();
  assert.deepEqual([answering, draining, rayAddress, rayVersion], [true, false, 'ray://h:10001', '2.60.0']);
  const list = await call('GET', '/v1/clusters');
  assert.deepEqual(list.json().items, [response.json()]);
  assert.ok(!`${response.body}${list.body}`.includes('CANARY'));
  const unknown = await call('GET', '/v1/clusters/locl');
  assert.deepEqual([unknown.statusCode, unknown.json().code], [404, 'cluster-not-found']);
  assert.match(unknown.json().detail, /Did you mean local/);
  assert.equal((await call('GET', '/v1/commands/cmd-00000000000000000000')).statusCode, 404);
});

test('a drain is a command and refuses a body', async () => {
  const response = await call('POST', '/v1/clusters/local/drain');
  assert.deepEqual([response.statusCode, response.json().kind], [202, 'drain']);
  assert.equal((await call('POST', '/v1/clusters/none/drain')).json().code, 'cluster-not-found');
  assert.equal((await call('POST', '/v1/clusters/local/drain', { body: {} })).statusCode, 400);
});

test('the removal of a cluster with a running experiment gets 409 cluster-busy', async () => {
  const { id } = await store.experiments.submit(submitInput());
  const lease = await claimed(store, id);
  const refused = await call('DELETE', '/v1/clusters/local');
  assert.deepEqual([refused.statusCode, refused.json().code], [409, 'cluster-busy']);
  assert.match(refused.json().detail, new RegExp(id));
  await store.attempts.end(lease, { to: 'failed', reason: '' });
  const response = await call('DELETE', '/v1/clusters/local');
  assert.deepEqual([response.statusCode, response.json().kind], [202, 'remove']);
});

// Fails if the script that records a command does not check for an open one.
test('two removals of one cluster with the same ETag return the same command', async () => {
  await store.clusters.put(clusterRecord({ name: 'twice' }));
  const path = '/v1/clusters/twice';
  const headers = { 'if-match': String((await call('GET', path)).headers.etag) };
  const answers = await Promise.all([1, 2].map(() => call('DELETE', path, { headers })));
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [202, 202],
  );
  assert.equal(answers[0]!.json().id, answers[1]!.json().id);
  assert.equal(answers[0]!.headers.location, answers[1]!.headers.location);
  assert.equal((await store.commands.open()).filter(({ cluster }) => cluster === 'twice').length, 1);
});
