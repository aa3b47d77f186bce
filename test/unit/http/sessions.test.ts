import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createSessions, SESSION_COOKIE, SESSION_MS } from '../../../src/http/sessions.ts';

const secret = 's'.repeat(32);
const sessions = createSessions({ tokens: ['one', 'two'], secret, loginCodes: ['code'] });

test('identifies the accepted tokens and no other', () => {
  assert.ok(sessions.identify('one'));
  assert.notEqual(sessions.identify('one'), sessions.identify('two'));
  fc.assert(
    fc.property(
      fc.string(),
      (token) => ['one', 'two'].includes(token) || sessions.identify(token) === undefined,
    ),
  );
});

test('a cookie holds for its time, as long as its token is accepted', () => {
  const identity = sessions.identify('two')!;
  const cookie = sessions.issue(identity, 1000);
  assert.equal(sessions.verify(cookie, 1000), identity);
  assert.equal(sessions.verify(cookie, 1000 + SESSION_MS - 1), identity);
  assert.equal(sessions.verify(cookie, 1000 + SESSION_MS), undefined);
  assert.equal(createSessions({ tokens: ['one', 'two'], secret }).verify(cookie, 1000), identity);
  assert.equal(createSessions({ tokens: ['one'], secret }).verify(cookie, 1000), undefined);
  assert.equal(
    createSessions({ tokens: ['one', 'two'], secret: 't'.repeat(32) }).verify(cookie, 1000),
    undefined,
  );
});

test('a changed cookie is refused', () => {
  const cookie = sessions.issue(sessions.identify('one')!, 1000);
  for (let at = 0; at < cookie.length; at++) {
    const other = cookie[at] === 'A' ? 'B' : 'A';
    const changed = cookie.slice(0, at) + other + cookie.slice(at + 1);
    assert.equal(sessions.verify(changed, 1000), undefined, changed);
  }
  for (const text of ['', '..', 'a.b.c']) assert.equal(sessions.verify(text, 0), undefined);
});

test('a login code works once', () => {
  assert.equal(sessions.redeem('other'), undefined);
  assert.equal(sessions.redeem('code'), sessions.identify('one'));
  assert.equal(sessions.redeem('code'), undefined);
  assert.match(SESSION_COOKIE, /^\w+$/);
});
