import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { makeKey } from '../../../../support/access.ts';
import { appFor, TOKEN } from '../../../../support/http-app.ts';
import { storeFor } from '../../../../support/store.ts';

const { store } = await storeFor({ after });
let now = 1_000_000;
const { call, logged } = await appFor({ after }, { store, now: () => now, limits: { failedSignIns: 1000 } });

const cookieOf = (response: { headers: Record<string, unknown> }) =>
  String(response.headers['set-cookie']).split(';', 1)[0]!;
const signIn = () => call('POST', '/login', { token: null, body: { token: TOKEN } });

describe('login links', () => {
  const created = async (headers: Record<string, string> = {}) =>
    (await call('POST', '/v1/login-links', { headers })).json() as { path: string; expiresAt: number };
  const opened = (path: string) => call('GET', path, { token: null });

  test('a link signs a browser in once, as the key that created it', async () => {
    const { token } = await makeKey(store, { name: 'ci', project: 'default', scopes: ['read'] });
    const { path } = (await call('POST', '/v1/login-links', { token })).json();
    const response = await opened(path);
    assert.deepEqual([response.statusCode, response.headers.location], [303, '/']);
    const caller = await call('GET', '/v1/caller', { token: null, headers: { cookie: cookieOf(response) } });
    assert.equal(caller.json().name, 'ci');
    assert.equal((await opened(path)).statusCode, 401);
  });

  test('a link is refused after a minute, and if a character of its code is changed', async () => {
    const { path, expiresAt } = await created();
    assert.equal(expiresAt, now + 60_000);
    assert.equal((await opened(`${path}x`)).statusCode, 401);
    now = expiresAt;
    assert.equal((await opened(path)).statusCode, 401);
  });

  test('a session cannot create a link, so it cannot extend itself', async () => {
    const cookie = cookieOf(await signIn());
    const headers = { cookie, origin: 'http://echelon.test' };
    const response = await call('POST', '/v1/login-links', { token: null, headers });
    assert.equal(response.statusCode, 403);
    assert.match(response.json().detail, /needs an API key/);
  });

  test('the log does not contain the code of a link', async () => {
    const { path } = await created();
    await opened(path);
    assert.ok(!JSON.stringify(logged).includes(path.split('=')[1]!));
  });
});
