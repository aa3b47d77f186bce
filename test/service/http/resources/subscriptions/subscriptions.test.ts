import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeKey, makeProjects } from '../../../../support/access.ts';
import { appFor } from '../../../../support/http-app.ts';
import { storeFor } from '../../../../support/store.ts';

const { store, redis } = await storeFor({ after });
const { call } = await appFor({ after }, { store, settings: { mailDomains: ['example.com'] } });
const target = { kind: 'webhook', url: 'https://example.com/hook', secret: 'hook' };
const add = (changes = {}) =>
  call('POST', '/v1/subscriptions', { body: { events: ['state'], target, ...changes } });

test('a subscription is added, listed, tested and removed', async () => {
  const made = await add({ states: ['failed'] });
  assert.equal(made.statusCode, 201, made.body);
  const { id, project } = made.json();
  assert.deepEqual([made.headers.location, project], [`/v1/subscriptions/${id}`, 'default']);
  assert.deepEqual((await call('GET', '/v1/subscriptions')).json().items, [made.json()]);
  assert.deepEqual((await call('GET', `/v1/subscriptions/${id}`)).json(), made.json());
  assert.equal((await call('POST', `/v1/subscriptions/${id}/test`)).json().queued, 1);
  assert.equal((await call('POST', `/v1/subscriptions/${id}/resend`)).json().queued, 0);
  const deliveries = (await call('GET', `/v1/subscriptions/${id}/deliveries`)).json();
  assert.deepEqual([deliveries.pending, deliveries.dead, deliveries.items], [1, [], []]);
  assert.equal((await call('DELETE', `/v1/subscriptions/${id}`)).statusCode, 204);
  assert.equal((await call('GET', `/v1/subscriptions/${id}`)).json().code, 'not-found');
  assert.deepEqual(await redis.keys('*subscri*'), []);
});

test('a subscription with a secret in plain text or a bad target gets 400 that names the field', async () => {
  const bad = [
    { target: { ...target, url: 'https://user:password@example.com/' } },
    { target: { ...target, url: 'ftp://example.com/' } },
    { target: { ...target, url: 'https://example.com:99999/' } },
    { target: { ...target, url: 'https://example.com/#part' } },
    { target: { ...target, url: 'https://example.com/hf_abcdefghijklmnopqrstuvwxyzABCDEFGH' } },
    { target: { kind: 'slack', url: 'https://hooks.slack.com/services/T/B/x' } },
    { target: { kind: 'slack', secret: '../default/hook' } },
    { target: { kind: 'email', to: ['a@b.c\r\nBcc: d@e.f'] } },
    { target: { kind: 'email', to: [] } },
    { events: [] },
    { events: ['everything'] },
    { waitMinutes: 0 },
  ];
  for (const changes of bad) {
    const answer = await add(changes);
    assert.equal(answer.statusCode, 400, JSON.stringify(changes));
    assert.ok(answer.json().problems.length > 0, answer.body);
  }
});

test('e-mail goes to the domains of the operator only', async () => {
  const to = (...all: string[]) => add({ target: { kind: 'email', to: all } });
  const allowed = await to('ml@Example.com', 'müller+x@example.com');
  assert.equal(allowed.statusCode, 201, allowed.body);
  await call('DELETE', allowed.headers.location as string);
  const refused = await to('ml@example.com', 'a@sub.example.com');
  assert.equal(refused.statusCode, 400);
  assert.deepEqual(
    refused.json().problems.map(({ field }: { field: string }) => field),
    ['/target/to/1'],
  );
  assert.match(refused.body, /ECHELON_MAIL_DOMAINS \(example.com\)/);
  for (const address of [
    'a@evil.test',
    'a%evil.test@example.com',
    'evil.test!a@example.com',
    'a@example.com@evil.test',
    'a@example.com.',
    '@example.com',
  ])
    assert.equal((await to(address)).statusCode, 400, address);
  const none = await appFor({ after }, { store });
  const body = { events: ['state'], target: { kind: 'email', to: ['a@example.com'] } };
  assert.match(
    (await none.call('POST', '/v1/subscriptions', { body })).body,
    /ECHELON_MAIL_DOMAINS \(none\)/,
  );
});

test('a project has at most 16 subscriptions, and its removal removes them', async () => {
  await makeProjects(store, 'team');
  for (let count = 0; count < 16; count += 1) assert.equal((await add({ project: 'team' })).statusCode, 201);
  assert.equal((await add({ project: 'team' })).json().code, 'limit-reached');
  assert.equal((await add({ project: 'absent' })).json().code, 'project-not-found');
  assert.equal((await call('DELETE', '/v1/projects/team')).statusCode, 204);
  assert.deepEqual(await redis.keys('*subscri*'), []);
});

test('a key of a project adds subscriptions to that project only', async () => {
  await makeProjects(store, 'mine', 'theirs');
  const { token } = await makeKey(store, { project: 'mine', scopes: ['read', 'submit'] });
  const body = { events: ['rule'], target };
  assert.equal((await call('POST', '/v1/subscriptions', { token, body })).json().project, 'mine');
  const other = await call('POST', '/v1/subscriptions', { token, body: { ...body, project: 'theirs' } });
  assert.equal(other.json().code, 'project-not-found');
});
