import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { holderOf } from '../../../../src/core/scopes.ts';
import { createCallers, newKeyId, newKeyToken } from '../../../../src/http/access/callers.ts';
import { createSessions } from '../../../../src/http/access/sessions.ts';
import { MAX_SIGN_INS } from '../../../../src/store/access/api-keys.ts';
import { storedKey } from '../../../support/access.ts';
import { appFor } from '../../../support/http-app.ts';
import { storeFor } from '../../../support/store.ts';

const { store } = await storeFor({ after });
const callers = createCallers({ store, tokens: ['one'], clock: { now: Date.now } });
after(() => callers.close());

/** A sign-in of a person, as the OpenID callback makes it. */
async function signIn(subject: string, at: number): Promise<string> {
  const id = newKeyId();
  const { token, digest } = newKeyToken(id);
  const made = { id, digest, createdAt: at, createdBy: `oidc:${subject}`, expiresAt: at + 12 * 3_600_000 };
  assert.ok(await store.access.createKey(storedKey({ ...made, name: subject, scopes: ['read'] })));
  return token;
}

test('a person has a bounded number of sign-ins, of which the newest remain, and other people keep theirs', async () => {
  const start = Date.now();
  const other = await signIn('other', start);
  const tokens: string[] = [];
  for (let at = 0; at < MAX_SIGN_INS + 15; at++) tokens.push(await signIn('guest', start + at));
  const known = await Promise.all(tokens.map((token) => callers.byToken(token)));
  assert.deepEqual(
    known.map((one) => one !== undefined),
    tokens.map((_token, at) => at >= 15),
  );
  assert.ok(await callers.byToken(other));
  assert.equal((await store.access.keys()).length, MAX_SIGN_INS + 1);
});

test('sign-ins of people keep no administrator from making keys', async () => {
  // As an installation of an older version may have them.
  for (let at = 0; at < 1_002; at++) await signIn(`person ${at % 60}`, Date.now() + at);
  const { call } = await appFor({ after }, { store });
  const body = { name: 'ci', scopes: ['read'] };
  assert.equal((await call('POST', '/v1/keys', { body })).statusCode, 201);
});

test('all sign-ins of a person have the limits of one caller', async () => {
  const [a, b, c] = await Promise.all(
    ['ann', 'ann', 'bob'].map(
      async (subject) => (await callers.byToken(await signIn(subject, Date.now())))!.caller,
    ),
  );
  assert.notEqual(a!.id, b!.id);
  assert.equal(holderOf(a!), holderOf(b!));
  assert.notEqual(holderOf(a!), holderOf(c!));
  assert.match(holderOf(a!), /^person-[0-9a-f]{16}$/);
  const { call } = await appFor({ after }, { store, limits: { requests: 4 } });
  const tokens = [await signIn('eve', Date.now()), await signIn('eve', Date.now())];
  const statuses: number[] = [];
  for (const token of [...tokens, ...tokens, ...tokens])
    statuses.push((await call('GET', '/v1/caller', { token })).statusCode);
  assert.deepEqual(statuses, [200, 200, 200, 200, 429, 429]);
  assert.equal((await call('GET', '/v1/caller', { token: await signIn('fay', Date.now()) })).statusCode, 200);
});

test('a sealed text is genuine only as it was sealed', () => {
  const sessions = createSessions('a secret');
  const sealed = sessions.seal('cli', { person: 'ann' }, 1000);
  assert.deepEqual(sessions.unseal('cli', sealed, 1), { person: 'ann' });
  for (const other of [
    `${sealed}.x`,
    `${sealed}.`,
    `.${sealed}`,
    ` ${sealed}`,
    `${sealed} `,
    sealed.replace('.', '..'),
  ])
    assert.equal(sessions.unseal('cli', other, 1), undefined, other);
});
