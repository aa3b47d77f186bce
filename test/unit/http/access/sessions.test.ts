import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSessions, SESSION_COOKIE, SESSION_MS } from '../../../../src/http/access/sessions.ts';

const secret = 's'.repeat(32);
const sessions = createSessions({ secret, loginCodes: ['code'] });

test('a cookie is valid until it expires, in every process with the same secret', () => {
  const cookie = sessions.issue({ credential: 'token-two', version: 7 }, 1000);
  assert.equal(sessions.verify(cookie, 1000)?.version, 7);
  assert.equal(sessions.verify(cookie, 1000 + SESSION_MS - 1)?.credential, 'token-two');
  assert.equal(sessions.verify(cookie, 1000 + SESSION_MS), undefined);
  assert.equal(createSessions({ secret }).verify(cookie, 1000)?.credential, 'token-two');
  assert.equal(createSessions({ secret: 't'.repeat(32) }).verify(cookie, 1000), undefined);
});

test('a changed cookie is refused', () => {
  const cookie = sessions.issue({ credential: 'token-one', version: 7 }, 1000);
  for (let at = 0; at < cookie.length; at++) {
    const other = cookie[at] === 'A' ? 'B' : 'A';
    const changed = cookie.slice(0, at) + other + cookie.slice(at + 1);
    assert.equal(sessions.verify(changed, 1000), undefined, changed);
  }
  for (const text of ['', '..', 'a.b.c', 'a.1.2.c']) assert.equal(sessions.verify(text, 0), undefined);
});

test('a login code works once', () => {
  assert.equal(sessions.redeem('other'), false);
  assert.equal(sessions.redeem('code'), true);
  assert.equal(sessions.redeem('code'), false);
  assert.match(SESSION_COOKIE, /^\w+$/);
});
