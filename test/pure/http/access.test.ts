import assert from 'node:assert/strict';
import { test } from 'node:test';
import Fastify from 'fastify';
import { ANONYMOUS, hasScope, SCOPES, sees } from '../../../src/core/scopes.ts';
import { createSessions, LINK_MS, SESSION_MS, sessionCookie } from '../../../src/http/access/sessions.ts';
import type { App } from '../../../src/http/server/deps.ts';
import { escapeHtml, htmlPage, loginPage } from '../../../src/http/server/pages.ts';
import { addPolicies, CHANGE, CREATE, READ } from '../../../src/http/server/policy.ts';

const secret = 's'.repeat(32);
const sessions = createSessions(secret);
const issued = { credential: 'token-two', version: 7 };

test('a cookie is valid until it expires, in every process with the same secret', () => {
  const cookie = sessions.issue(issued, 1000);
  const signIn = { ...issued, expiresAt: 1000 + SESSION_MS };
  assert.deepEqual(sessions.verify(cookie, 1000), signIn);
  assert.deepEqual(sessions.verify(cookie, 1000 + SESSION_MS - 1), signIn);
  assert.equal(sessions.verify(cookie, 1000 + SESSION_MS), undefined);
  assert.deepEqual(createSessions(secret).verify(cookie, 1000), signIn);
  assert.equal(createSessions('t'.repeat(32)).verify(cookie, 1000), undefined);
});

test('a login code is valid for the time it was issued for, and a cookie is no login code', () => {
  const code = sessions.issueCode(issued, 1000, LINK_MS);
  const signIn = { ...issued, expiresAt: 1000 + LINK_MS };
  assert.deepEqual(sessions.verifyCode(code, 1000 + LINK_MS - 1), signIn);
  assert.equal(sessions.verifyCode(code, 1000 + LINK_MS), undefined);
  assert.equal(sessions.verify(code, 1000), undefined);
  assert.equal(sessions.verifyCode(sessions.issue(issued, 1000), 1000), undefined);
  assert.notEqual(sessions.issueCode(issued, 1000, LINK_MS), code);
});

test('a cookie and a login code that were changed, cut or continued are refused', () => {
  for (const [signed, verify] of [
    [sessions.issue(issued, 1000), sessions.verify],
    [sessions.issueCode(issued, 1000, LINK_MS), sessions.verifyCode],
  ] as const) {
    for (let at = 0; at < signed.length; at++) {
      const other = signed[at] === 'A' ? 'B' : 'A';
      assert.equal(verify(signed.slice(0, at) + other + signed.slice(at + 1), 1000), undefined);
      assert.equal(verify(signed.slice(0, at), 1000), undefined);
    }
    // Fails if only the first parts of the text are read: a code could be used again with an addition.
    for (const added of ['.x', '.', 'x', '=', '\n', ' ', '%00', `.${signed}`]) {
      assert.equal(verify(`${signed}${added}`, 1000), undefined, added);
      assert.equal(verify(`${added}${signed}`, 1000), undefined, added);
    }
    for (const text of ['', '.', '....', 'a.b.c', 'a.b.c.d.e']) assert.equal(verify(text, 0), undefined);
  }
});

test('the session cookie is bound to its host with https, and by http works in every browser', () => {
  assert.deepEqual(sessionCookie('https://a.test'), { name: '__Host-echelon_session', secure: true });
  assert.deepEqual(sessionCookie('http://127.0.0.1:1'), { name: 'echelon_session', secure: false });
});

test('an anonymous caller sees no project and has no scope', () => {
  for (const project of ['default', 'a']) assert.equal(sees(ANONYMOUS, project), false);
  for (const scope of SCOPES) assert.equal(hasScope(ANONYMOUS, scope), false);
});

test('a bound caller sees its own project, another one all', () => {
  assert.equal(sees({ project: 'a' }, 'a'), true);
  assert.equal(sees({ project: 'a' }, 'b'), false);
  assert.equal(sees({ project: null }, 'b'), true);
});

test('admin is for callers of all projects', () => {
  assert.equal(hasScope({ project: null, scopes: ['admin'] }, 'admin'), true);
  assert.equal(hasScope({ project: 'a', scopes: ['admin'] }, 'admin'), false);
  assert.equal(hasScope({ project: 'a', scopes: ['read'] }, 'read'), true);
  assert.equal(hasScope({ project: 'a', scopes: ['read'] }, 'submit'), false);
});

test('an app with a route without a policy does not start', async () => {
  const app = Fastify() as unknown as App;
  addPolicies(app, 1000);
  app.get('/a', { config: { policy: READ } }, async () => ({}));
  app.get('/b', { config: {} }, async () => ({}));
  await assert.rejects(async () => app.ready(), /^TypeError: No policy: GET \/b/);
});

test('a route has the handler timeout, unless its policy limits only its store calls', () => {
  const app = Fastify() as unknown as App;
  addPolicies(app, 1000);
  const timeouts = new Map<string, number | undefined>();
  app.addHook('onRoute', ({ url, handlerTimeout }) => void timeouts.set(url, handlerTimeout));
  app.get('/a', { config: { policy: READ } }, async () => ({}));
  app.post('/b', { config: { policy: { ...CREATE, timeout: 'store' } } }, async () => ({}));
  assert.deepEqual([timeouts.get('/a'), timeouts.get('/b')], [1000, undefined]);
});

test('READ is not audited, CREATE and CHANGE are, and only CREATE stores its response', () => {
  assert.deepEqual(
    [READ, CREATE, CHANGE].map(({ scope, audit, idempotency }) => [scope, audit, idempotency]),
    [
      ['read', false, 'unsupported'],
      ['submit', true, 'stored'],
      ['submit', true, 'unsupported'],
    ],
  );
});

const HOSTILE = `"><script>alert('1')</script>&`;

test('text on a page is escaped, so that it is never markup', () => {
  assert.equal(escapeHtml(HOSTILE), '&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;');
  for (const page of [loginPage({ next: HOSTILE, message: HOSTILE }), htmlPage(HOSTILE, '')]) {
    assert.ok(!page.includes('<script>'));
    assert.match(page, /^<!doctype html>/);
  }
});

test('the sign-in form posts the token and the next page', () => {
  const page = loginPage({ next: '/docs' });
  assert.match(page, /<form method="post" action="\/login">/);
  assert.match(page, /name="next" value="\/docs"/);
  assert.ok(!page.includes('role="alert"'));
});
