import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { newKeyId } from '../../../../../src/http/access/callers.ts';
import { makeKey, makeProjects, storedKey } from '../../../../support/access.ts';
import { appFor, LOCAL } from '../../../../support/http-app.ts';
import { storeFor } from '../../../../support/store.ts';

const { store, redis } = await storeFor({ after });
await makeProjects(store, 'team');
let now = 1_000_000;
const { call, logged } = await appFor({ after }, { store, now: () => now });

async function make(body: object = {}) {
  const response = await call('POST', '/v1/keys', { body: { name: 'a key', scopes: ['read'], ...body } });
  assert.equal(response.statusCode, 201, response.body);
  return response.json() as { key: { id: string; expiresAt: number | null }; token: string };
}
const status = async (token: string) => (await call('POST', '/v1/plans', { token, body: LOCAL })).statusCode;

test('a key beyond the limit gets 409 limit-reached', async () => {
  const keys = async () => Array.from({ length: 1000 }, () => ({ ...storedKey(), lastUsedAt: null }));
  const full = await appFor(
    { after },
    {
      store: { ...store, access: { ...store.access, keys } },
    },
  );
  const answer = await full.call('POST', '/v1/keys', { body: { name: 'one more', scopes: ['read'] } });
  assert.deepEqual([answer.statusCode, answer.json().code], [409, 'limit-reached']);
});

describe('a key', () => {
  test('a new key works immediately, and its secret is shown only in the answer that creates it', async () => {
    const { key, token } = await make({ project: 'team', expiresInSeconds: 60 });
    assert.equal(token.split('_')[1], key.id);
    assert.equal(key.expiresAt, now + 60_000);
    assert.equal(await status(token), 200);
    const secret = token.split('_').slice(2).join('_');
    const list = await call('GET', '/v1/keys');
    assert.ok(list.body.includes(key.id) && !list.body.includes(secret) && !list.body.includes('digest'));
    for (const name of await redis.keys('*')) {
      const value = await redis.dump(name);
      assert.ok(!String(value).includes(secret), name);
    }
    assert.ok(!JSON.stringify(logged).includes(secret));
  });

  test('a key is read at the Location of its creation, also after it is revoked', async () => {
    const made = await call('POST', '/v1/keys', { body: { name: 'a key', scopes: ['read'] } });
    const shown = await call('GET', String(made.headers.location));
    assert.deepEqual(shown.json(), made.json().key);
    await call('DELETE', String(made.headers.location));
    assert.equal((await call('GET', String(made.headers.location))).json().revokedAt, now);
    assert.equal((await call('GET', `/v1/keys/${newKeyId()}`)).json().code, 'not-found');
  });

  test('a repeated Idempotency-Key does not show a new key a second time', async () => {
    const headers = { 'idempotency-key': 'the-same' };
    const body = { name: 'a key', scopes: ['read'] };
    const first = await call('POST', '/v1/keys', { body, headers });
    const second = await call('POST', '/v1/keys', { body, headers });
    assert.deepEqual([first.statusCode, second.statusCode], [201, 409]);
    for (const name of await redis.keys('*')) {
      const value = await redis.dump(name);
      assert.ok(!String(value).includes(first.json().token.slice(-43)), name);
    }
  });

  test('a key cannot create or rotate a key with a scope that it lacks', async () => {
    const { token } = await make({ scopes: ['admin', 'read'] });
    const create = (scopes: string[]) => call('POST', '/v1/keys', { token, body: { name: 'k', scopes } });
    const refused = await create(['read', 'custom-code']);
    assert.deepEqual([refused.statusCode, refused.json().code], [403, 'forbidden']);
    assert.match(refused.json().detail, /scope custom-code/);
    assert.equal((await create(['read'])).statusCode, 201);
    const { key } = await make({ scopes: ['submit'] });
    const rotated = await call('POST', `/v1/keys/${key.id}/rotate`, { token });
    assert.equal(rotated.statusCode, 403);
    assert.equal((await call('POST', `/v1/keys/${key.id}/rotate`)).statusCode, 200);
    assert.equal((await call('DELETE', `/v1/keys/${key.id}`, { token })).statusCode, 200, 'but revokes any');
  });

  test('a key with an unknown project or scope, without scopes, or with admin in a project is refused with its field', async () => {
    const refused = async (body: object) => {
      const response = await call('POST', '/v1/keys', { body: { name: 'a', ...body } });
      assert.equal(response.statusCode, 400, JSON.stringify(body));
      return response.json().problems[0].field;
    };
    assert.equal(await refused({ scopes: ['read'], project: 'taem' }), '/project');
    assert.equal(await refused({ scopes: ['admin'], project: 'team' }), '/scopes');
    assert.equal(await refused({ scopes: [] }), '/scopes');
    assert.equal(await refused({ scopes: ['root'] }), '/scopes/0');
  });

  test('a revoked key is refused immediately, and an expired key after its lifetime', async () => {
    const [revoked, expiring] = [await make(), await make({ expiresInSeconds: 5 })];
    const answer = await call('DELETE', `/v1/keys/${revoked.key.id}`);
    assert.equal(answer.json().revokedAt, now);
    assert.equal(await status(revoked.token), 401);
    now += 5000;
    assert.equal(await status(expiring.token), 401);
    assert.equal((await call('DELETE', `/v1/keys/${revoked.key.id}`)).json().revokedAt, now - 5000);
    assert.equal((await call('DELETE', `/v1/keys/${newKeyId()}`)).statusCode, 404);
  });

  test('a rotated key replaces its secret, after the overlap if one is requested', async () => {
    const { key, token } = await make();
    const rotate = (body?: object) =>
      call('POST', `/v1/keys/${key.id}/rotate`, body === undefined ? {} : { body });
    const second = (await rotate({ overlapSeconds: 10 })).json();
    assert.deepEqual([await status(token), await status(second.token)], [200, 200]);
    now += 10_000;
    assert.deepEqual([await status(token), await status(second.token)], [401, 200]);
    const third = (await rotate()).json();
    assert.deepEqual([await status(second.token), await status(third.token)], [401, 200]);
    assert.equal((await rotate({ overlapSeconds: 8 * 24 * 3600 })).statusCode, 400);
    await call('DELETE', `/v1/keys/${key.id}`);
    assert.equal((await rotate({})).statusCode, 404);
  });
});

test('the pages of keys show every key once, newest first, although a key is created meanwhile', async (t) => {
  const { store: own } = await storeFor(t);
  let at = 5_000;
  const { call: ask } = await appFor(t, { store: own, now: () => at });
  const made: string[] = [];
  for (let count = 0; count < 5; count++) {
    at += count % 2; // some at the same time
    const { key } = (await ask('POST', '/v1/keys', { body: { name: 'k', scopes: ['read'] } })).json();
    made.push(key.id);
  }
  const shown: { id: string; createdAt: number }[] = [];
  let next: string | null = '';
  for (let pages = 0; next !== null; pages++) {
    const answer = await ask('GET', `/v1/keys?limit=2${next && `&cursor=${next}`}`);
    const page: { items: typeof shown; next: string | null } = answer.json();
    shown.push(...page.items);
    next = page.next;
    at += 1;
    if (pages === 0) await ask('POST', '/v1/keys', { body: { name: 'new', scopes: ['read'] } });
  }
  assert.deepEqual(shown.map(({ id }) => id).sort(), made.toSorted());
  const times = shown.map(({ createdAt }) => createdAt);
  assert.deepEqual(
    times,
    times.toSorted((a, b) => b - a),
  );
  const foreign = (await ask('GET', '/v1/experiments?cursor=x')).json().code;
  assert.deepEqual(
    [foreign, (await ask('GET', '/v1/keys?cursor=x')).json().code],
    Array(2).fill('invalid-cursor'),
  );
});

test('every replica accepts a key that another replica created, and refuses it after that replica revoked it', async () => {
  const { call: elsewhere } = await appFor({ after }, { store, now: () => now });
  const by = async (token: string) => (await elsewhere('GET', '/v1/caller', { token })).statusCode;
  for (let at = 0; at < 20; at += 1) {
    const { key, token } = await make();
    assert.equal(await by(token), 200);
    await call('DELETE', `/v1/keys/${key.id}`);
    assert.equal(await by(token), 401);
  }
});

test('the list of keys shows when a key was last used', async () => {
  const { key, token } = await make();
  await status(token);
  const { items } = (await call('GET', '/v1/keys')).json();
  const found = items.find(({ id }: { id: string }) => id === key.id);
  assert.equal(found.lastUsedAt, now);
});

test('GET /v1/caller shows the id, name, project and scopes of the key', async (t) => {
  const { store } = await storeFor(t);
  const { call } = await appFor(t, { store, settings: { grafanaUrl: 'https://grafana.example' } });
  const { id, token } = await makeKey(store, { name: 'ci', project: 'default', scopes: ['read', 'submit'] });
  assert.deepEqual((await call('GET', '/v1/caller', { token })).json(), {
    id,
    name: 'ci',
    project: 'default',
    scopes: ['read', 'submit'],
    grafana: 'https://grafana.example',
  });
  const all = (await call('GET', '/v1/caller')).json();
  assert.deepEqual([all.project, all.scopes.length], [null, 4]);
});
