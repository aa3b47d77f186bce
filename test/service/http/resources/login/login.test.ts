import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { credentialOfToken } from '../../../../../src/http/access/callers.ts';
import { createSessions, LINK_MS, SESSION_MS } from '../../../../../src/http/access/sessions.ts';
import { ownPath } from '../../../../../src/http/resources/login/login.ts';
import { appFor, LOCAL, SECRET, TOKEN } from '../../../../support/http-app.ts';
import { storeFor } from '../../../../support/store.ts';

const { store } = await storeFor({ after });
let now = 1_000_000;
const { app, call, logged } = await appFor(
  { after },
  { store, now: () => now, limits: { failedSignIns: 1000 } },
);
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

function cookieOf(response: { headers: Record<string, unknown> }): string {
  return String(response.headers['set-cookie']).split(';', 1)[0]!;
}

const signIn = () => call('POST', '/login', { token: null, body: { token: TOKEN } });
/** POST /v1/plans needs a token and no store. */
const plan = (headers: Record<string, string>) =>
  call('POST', '/v1/plans', { token: null, body: LOCAL, headers });

describe('sign-in by token', () => {
  test('a sign-in sets a cookie that is HttpOnly, SameSite=Strict and does not contain the token', async () => {
    const response = await signIn();
    assert.equal(response.statusCode, 204);
    const cookie = String(response.headers['set-cookie']);
    for (const part of ['HttpOnly', 'SameSite=Strict', 'Path=/']) assert.ok(cookie.includes(part), part);
    assert.ok(!cookie.includes(TOKEN));
  });

  test('a sign-in by form redirects only to a path of this server', async () => {
    const form = (next: string) =>
      call('POST', '/login', {
        token: null,
        raw: new URLSearchParams({ token: TOKEN, next }).toString(),
        headers: FORM,
      });
    assert.equal((await form('/queues?x=1')).headers.location, '/queues?x=1');
    for (const next of [
      '//evil.test',
      '/\\evil.test',
      'https://evil.test',
      '/a\r\nx: y',
      'javascript:alert(1)',
    ]) {
      assert.equal((await form(next)).headers.location, '/', next);
    }
  });

  test('a sign-in with a wrong token sets no cookie, and a browser gets the form again', async () => {
    const json = await call('POST', '/login', { token: null, body: { token: 'wrong' } });
    assert.equal(json.statusCode, 401);
    const raw = new URLSearchParams({ token: 'wrong', next: '/"><script>' }).toString();
    const page = await call('POST', '/login', { token: null, raw, headers: FORM });
    assert.equal(page.statusCode, 401);
    assert.match(page.body, /is invalid/);
    assert.ok(!page.body.includes('<script>'));
    for (const response of [json, page]) assert.equal(response.headers['set-cookie'], undefined);
  });

  test('a sign-in from another site or with unknown fields is refused', async () => {
    const foreign = { ...FORM, origin: 'http://evil.test' };
    const raw = `token=${TOKEN}`;
    assert.equal((await call('POST', '/login', { token: null, raw, headers: foreign })).statusCode, 403);
    assert.equal(
      (await call('POST', '/login', { token: null, body: { token: TOKEN, user: 'x' } })).statusCode,
      400,
    );
    assert.equal((await call('POST', '/login', { token: null, body: {} })).statusCode, 400);
  });

  test('a refused form gets the form with a message, and a refused JSON request a problem document', async () => {
    const origin = { origin: 'http://evil.test' };
    for (const [raw, headers, status, sentence] of [
      ['token=wrong', {}, 401, /The API key or token is invalid/],
      [`token=${TOKEN}`, origin, 403, /needs an Origin header of this server/],
      ['', {}, 400, /The request is invalid/],
    ] as const) {
      const response = await call('POST', '/login', { token: null, raw, headers: { ...FORM, ...headers } });
      assert.equal(response.statusCode, status);
      assert.match(String(response.headers['content-type']), /^text\/html/);
      assert.match(response.body, sentence);
      assert.match(response.body, /<form method="post" action="\/login">/);
    }
    const json = await call('POST', '/login', { token: null, body: { token: 'wrong' } });
    assert.equal(json.json().code, 'unauthenticated');
    const signedOut = await call('POST', '/logout', { token: null, raw: '', headers: FORM });
    assert.deepEqual([signedOut.statusCode, /<form/.test(signedOut.body)], [401, true]);
  });
});

describe('the cookie', () => {
  test('a cookie allows reads, and writes only from pages of this server', async () => {
    const cookie = cookieOf(await signIn());
    assert.equal((await call('GET', '/docs', { token: null, headers: { cookie } })).statusCode, 200);
    assert.equal((await plan({ cookie })).statusCode, 403);
    assert.equal((await plan({ cookie, origin: 'http://evil.test' })).statusCode, 403);
    assert.equal((await plan({ cookie, origin: 'null' })).statusCode, 403);
    assert.equal((await plan({ cookie, origin: 'http://echelon.test' })).statusCode, 200);
  });

  test('an expired or changed cookie gets 401', async () => {
    const cookie = cookieOf(await signIn());
    const origin = 'http://echelon.test';
    assert.equal(
      (await plan({ cookie: cookie.replace(/\.\d+\.(?=[^.]+\.[^.]+$)/, '.99999999999999.'), origin }))
        .statusCode,
      401,
    );
    assert.equal((await plan({ cookie: `${cookie.slice(0, -2)}xx`, origin })).statusCode, 401);
    assert.equal((await plan({ cookie: 'echelon_session=', origin })).statusCode, 401);
    now += SESSION_MS + 1;
    assert.equal((await plan({ cookie, origin })).statusCode, 401);
  });

  test('a sign-out deletes the cookie', async () => {
    const cookie = cookieOf(await signIn());
    const headers = { ...FORM, cookie, origin: 'http://echelon.test' };
    const response = await call('POST', '/logout', { token: null, raw: '', headers });
    assert.equal(response.statusCode, 303);
    assert.match(String(response.headers['set-cookie']), /echelon_session=;.*Expires=Thu, 01 Jan 1970/);
  });

  test('a copy of a cookie is refused after the sign-out, and a new sign-in works', async () => {
    const [copied, own] = [cookieOf(await signIn()), cookieOf(await signIn())];
    const origin = 'http://echelon.test';
    await call('POST', '/logout', { token: null, raw: '', headers: { ...FORM, cookie: own, origin } });
    assert.equal((await plan({ cookie: copied, origin })).statusCode, 401);
    // Fails if the two are compared by a clock, which stands still here.
    assert.equal((await plan({ cookie: cookieOf(await signIn()), origin })).statusCode, 200);
  });
});

describe('a login link', () => {
  const newCode = async () => {
    const issued = { credential: credentialOfToken(TOKEN), version: await store.access.version() };
    return createSessions(SECRET).issueCode(issued, now, LINK_MS);
  };
  const open = (code: string) => call('GET', `/login?code=${code}`, { token: null });

  test('a login link works once, as it was made, and its code is in no log', async () => {
    const code = await newCode();
    const head = await app.inject({
      method: 'HEAD',
      url: `/login?code=${code}`,
      headers: { host: 'echelon.test' },
    });
    assert.notEqual(head.statusCode, 303);
    const first = await open(code);
    assert.equal(first.statusCode, 303);
    assert.equal((await plan({ cookie: cookieOf(first), origin: 'http://echelon.test' })).statusCode, 200);
    // Fails if a part of the code is compared: each of these would be a code that was not used before.
    for (const again of [code, `${code}.x`, `${code}.`, `${code}%20`, `.${code}`, `${code}%00`]) {
      const second = await open(again);
      assert.equal(second.statusCode, 401, again);
      assert.match(second.body, /already used/);
      assert.equal(second.headers['set-cookie'], undefined, again);
    }
    assert.ok(logged.length > 0);
    assert.ok(!JSON.stringify(logged).includes(code));
    assert.ok(!JSON.stringify(logged).includes(TOKEN));
  });

  test('a login link is refused after its time and after a sign-out', async () => {
    const [late, before] = [await newCode(), await newCode()];
    now += LINK_MS;
    assert.equal((await open(late)).statusCode, 401);
    now -= LINK_MS;
    await store.access.signOut(credentialOfToken(TOKEN), SESSION_MS);
    assert.equal((await open(before)).statusCode, 401);
  });
});

test('with https the session cookie is secure and bound to its host, and a cookie without the prefix is ignored', async (t) => {
  const { call: secure } = await appFor(t, { store, settings: { publicUrl: 'https://echelon.test' } });
  const response = await secure('POST', '/login', { token: null, body: { token: TOKEN } });
  const cookie = String(response.headers['set-cookie']);
  assert.match(cookie, /^__Host-echelon_session=/);
  for (const part of ['; Secure', '; Path=/', '; HttpOnly', '; SameSite=Strict'])
    assert.ok(cookie.includes(part));
  assert.doesNotMatch(cookie, /Domain/i);
  const pair = cookieOf(response);
  const read = (headers: Record<string, string>) => secure('GET', '/docs', { token: null, headers });
  assert.equal((await read({ cookie: pair })).statusCode, 200);
  // A page of a neighbouring name can set this one.
  assert.equal((await read({ cookie: pair.replace('__Host-', '') })).statusCode, 401);
  const headers = { cookie: pair, origin: 'https://echelon.test' };
  const out = await secure('POST', '/logout', { token: null, headers });
  assert.match(String(out.headers['set-cookie']), /^__Host-echelon_session=;.*Path=\/.*; Secure/);
});

test('without a cookie, a browser is redirected to the sign-in page and a program gets 401', async () => {
  const page = await call('GET', '/queues?a=b', { token: null, headers: { accept: 'text/html,*/*' } });
  assert.equal(page.statusCode, 303);
  assert.equal(page.headers.location, '/login?next=%2Fqueues%3Fa%3Db');
  assert.equal((await call('GET', '/queues', { token: null })).statusCode, 401);
  const api = await call('GET', '/v1/queues', { token: null, headers: { accept: 'text/html' } });
  assert.equal(api.statusCode, 401);
  assert.equal((await call('GET', '/login', { token: null })).statusCode, 200);
});

test('ownPath returns a path of this server, and / for anything else', () => {
  assert.equal(ownPath('/docs'), '/docs');
  for (const next of [undefined, '', '/', 'docs', '//x', '/\\x', '/a\\b', '/a b'])
    assert.equal(ownPath(next), '/');
});
