import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeFor } from '../../../support/store.ts';

test('a sign-out records the access version that it makes, and deletes sign-outs older than every sign-in', async (t) => {
  const { store } = await storeFor(t);
  const signOut = async (credential: string, lastsMs: number) => {
    const before = await store.access.version();
    await store.access.signOut(credential, lastsMs);
    assert.ok((await store.access.version()) > before);
    return store.access.version();
  };
  const one = await signOut('one', 60_000);
  const two = await signOut('two', 60_000);
  assert.deepEqual(await store.access.signOuts(), new Map(Object.entries({ one, two })));
  const again = await signOut('two', 0);
  assert.deepEqual(await store.access.signOuts(), new Map(Object.entries({ two: again })));
});

test('the access version grows after the clock of the server was set back', async (t) => {
  const { store, redis } = await storeFor(t);
  const ahead = Date.now() * 1000 + 3_600_000_000;
  await redis.set('{echelon}:access-version', String(ahead));
  await store.access.signOut('one', 60_000);
  await store.access.signOut('two', 60_000);
  // Fails if the version is the time alone.
  assert.deepEqual(
    await store.access.signOuts(),
    new Map(Object.entries({ one: ahead + 1, two: ahead + 2 })),
  );
});
