import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { SCOPES } from '../../../../src/core/scopes.ts';
import { createCallers, keyIdOf, newKeyId, newKeyToken } from '../../../../src/http/access/callers.ts';
import type { StoredKey } from '../../../../src/store/access/api-keys.ts';
import { storedKey } from '../../../support/access.ts';
import { until } from '../../../support/dispatch.ts';
import { partialStore } from '../../../support/partial-store.ts';
import { storeFor } from '../../../support/store.ts';

const { store } = await storeFor({ after });
let now = 1_000_000;
const callers = createCallers({ store, tokens: ['one', 'two'], clock: { now: () => now } });
after(() => callers.close());

async function makeKey(changes: Partial<StoredKey> = {}) {
  const id = newKeyId();
  const { token, digest } = newKeyToken(id);
  await store.access.createKey(storedKey({ id, digest, ...changes }));
  return { id, token };
}
const signInOf = async (known: { credential: string } | undefined, lastsMs = 60_000) => ({
  credential: known!.credential,
  version: await callers.version(),
  expiresAt: now + lastsMs,
});
const revoke = (id: string) => store.access.changeKey(id, (key) => ({ ...key, revokedAt: now }));

describe('a token of the configuration', () => {
  test('a configured token has all scopes, and its caller id does not contain the token', async () => {
    const known = await callers.byToken('one');
    assert.deepEqual([known?.caller.project, known?.caller.scopes], [null, SCOPES]);
    assert.notEqual(known?.caller.id, (await callers.byToken('two'))?.caller.id);
    assert.ok(!JSON.stringify(known).includes('"one"'));
    assert.deepEqual(await callers.bySignIn(await signInOf(known)), known);
    for (const wrong of ['', 'three', 'On', 'one ']) assert.equal(await callers.byToken(wrong), undefined);
  });
});

describe('an API key', () => {
  test('a new API key works immediately, with its own name, project and scopes', async () => {
    const { id, token } = await makeKey({ project: 'default', scopes: ['read', 'submit'], name: 'n' });
    assert.equal(keyIdOf(token), id);
    const known = await callers.byToken(token);
    assert.deepEqual(known?.caller, { id, name: 'n', project: 'default', scopes: ['read', 'submit'] });
    // The secret alone: it may hold underscores itself.
    assert.ok(!known.credential.includes(token.slice(-43)));
    assert.deepEqual(await callers.bySignIn(await signInOf(known)), known);
  });

  test('the store has only the digest of an API key, and each key has 256 random bits', async () => {
    const { token } = await makeKey();
    const secret = token.slice('echelon_'.length + 17);
    assert.equal(Buffer.from(secret, 'base64url').length, 32);
    assert.ok(!JSON.stringify(await store.access.keys()).includes(secret));
    const secrets = Array.from({ length: 1000 }, () => newKeyToken(newKeyId()).token);
    assert.equal(new Set(secrets.map((one) => one.slice(-43))).size, 1000);
    assert.equal(new Set(secrets.map(keyIdOf)).size, 1000);
  });

  test('an API key with a wrong secret or id, or a revoked or expired key, is refused', async () => {
    const { id, token } = await makeKey();
    const signIn = await signInOf(await callers.byToken(token));
    const wrong = token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A');
    assert.equal(await callers.byToken(wrong), undefined);
    assert.equal(await callers.byToken(token.replace(id, newKeyId())), undefined);
    await revoke(id);
    // Fails if keys are read only once.
    assert.equal(await callers.byToken(token), undefined);
    assert.equal(await callers.bySignIn(signIn), undefined);
    const expiring = await makeKey({ expiresAt: now + 10 });
    assert.ok(await callers.byToken(expiring.token));
    now += 10;
    assert.equal(await callers.byToken(expiring.token), undefined);
  });

  test('after a rotation the old secret and its cookies work until the overlap ends', async () => {
    const { id, token } = await makeKey();
    const old = (await callers.byToken(token))!;
    const next = newKeyToken(id);
    await store.access.changeKey(id, (key) => ({
      ...key,
      digest: next.digest,
      previousDigest: key.digest,
      overlapUntil: now + 100,
    }));
    for (const one of [token, next.token]) assert.equal((await callers.byToken(one))?.caller.id, id);
    assert.ok(await callers.bySignIn(await signInOf(old)));
    now += 100;
    assert.equal(await callers.byToken(token), undefined);
    assert.equal(await callers.bySignIn(await signInOf(old)), undefined);
    assert.ok(await callers.byToken(next.token));
  });

  test('the last use of an API key is recorded at most once a minute', async () => {
    const { id, token } = await makeKey();
    const usedAt = async () => (await store.access.keys()).find((key) => key.id === id)?.lastUsedAt;
    assert.equal(await usedAt(), null);
    const first = now;
    await callers.byToken(token);
    await until(async () => (await usedAt()) === first, 'the use is noted');
    now += 59_000;
    await callers.byToken(token);
    now += 1000;
    await callers.byToken(token);
    await until(async () => (await usedAt()) === first + 60_000, 'the use is noted again');
  });
});

test('the keys are read again only after a change', async () => {
  let reads = 0;
  const counting = {
    version: () => store.access.version(),
    keyUsed: async () => {},
    signOuts: () => store.access.signOuts(),
    keys: () => {
      reads += 1;
      return store.access.keys();
    },
  };
  const own = createCallers({
    store: partialStore({ access: counting }),
    tokens: [],
    clock: { now: () => now },
  });
  const { id, token } = await makeKey();
  const wrong = newKeyToken(newKeyId()).token;
  await Promise.all(Array.from({ length: 50 }, (_one, at) => own.byToken(at % 2 ? token : wrong)));
  assert.equal(reads, 1);
  await revoke(id);
  assert.equal(await own.byToken(token), undefined);
  assert.equal(reads, 2);
});

test('a sign-in before its credential signed out is refused, and one after it in the same millisecond is accepted', async () => {
  const { token } = await makeKey();
  for (const one of [token, 'one']) {
    const { credential } = (await callers.byToken(one))!;
    const before = await signInOf({ credential });
    assert.ok(await callers.bySignIn(before));
    await store.access.signOut(credential, 60_000);
    // Fails if only the signature of a cookie is checked.
    assert.equal(await callers.bySignIn(before), undefined);
    // Fails if sign-ins and sign-outs are compared by a clock, which stands still here.
    assert.ok(await callers.bySignIn(await signInOf({ credential })));
    assert.ok(await callers.byToken(one), 'the key itself still works');
  }
});

describe('a watched credential', () => {
  const byKey = (known: { credential: string } | undefined) => ({ ...known!, signIn: undefined });

  test('a watched session aborts at its sign-out and its end, in every process, and the key itself continues', async () => {
    const replica = createCallers({ store, tokens: ['one', 'two'], clock: { now: () => now } });
    after(() => replica.close());
    for (const token of ['one', (await makeKey()).token]) {
      const known = (await callers.byToken(token))!;
      const session = async () => ({ ...known, signIn: await signInOf(known, 1000) });
      const ending = [callers.watch(await session()), replica.watch(await session())];
      const key = replica.watch(byKey(known));
      await store.access.signOut(known.credential, 60_000);
      const later = replica.watch(await session());
      // Fails if only keys are watched: a sign-out changes none.
      await until(async () => ending.every(({ signal }) => signal.aborted), 'both sessions end');
      assert.equal(ending[1]!.signal.reason, 'the session was signed out');
      assert.deepEqual([key.signal.aborted, later.signal.aborted], [false, false]);
      now += 1000;
      await until(async () => later.signal.aborted, 'the session expires');
      assert.equal(later.signal.reason, 'the session has expired');
      assert.equal(key.signal.aborted, false);
      for (const one of [...ending, key, later]) one.release();
    }
  });

  test('a watched credential aborts with the reason when its key is revoked, and other credentials stay valid', async () => {
    const [ends, stays] = [await makeKey(), await makeKey()];
    const watch = async (token: string) => callers.watch(byKey(await callers.byToken(token)));
    const [ending, staying, own] = [await watch(ends.token), await watch(stays.token), await watch('one')];
    await revoke(ends.id);
    // Fails without endStreams.
    await until(async () => ending.signal.aborted, 'the signal aborts');
    assert.equal(ending.signal.reason, 'the key was revoked');
    assert.deepEqual([staying.signal.aborted, own.signal.aborted], [false, false]);
    for (const one of [ending, staying, own]) one.release();
  });

  test('a watched credential aborts with the reason when its key expires or is rotated', async () => {
    const [expires, rotates] = [await makeKey({ expiresAt: now + 10 }), await makeKey()];
    const watch = async (token: string) => callers.watch(byKey(await callers.byToken(token))).signal;
    const [one, two] = [await watch(expires.token), await watch(rotates.token)];
    now += 10;
    await store.access.changeKey(rotates.id, (key) => ({ ...key, digest: newKeyToken(rotates.id).digest }));
    await until(async () => one.aborted && two.aborted, 'both abort');
    assert.deepEqual([one.reason, two.reason], ['the key has expired', 'the key was rotated']);
  });
});
