import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSessions, LINK_MS, SESSION_MS, sessionCookie } from '../../../src/http/access/sessions.ts';

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
