import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeFor } from '../../../support/store.ts';

test('the last sign-out of each credential is kept for as long as a sign-in lasts, and changes the access version', async (t) => {
  const { store } = await storeFor(t);
  const before = await store.access.version();
  await store.access.signOut('one', 1000, 500);
  assert.notEqual(await store.access.version(), before);
  await store.access.signOut('two', 1200, 500);
  assert.deepEqual(await store.access.signOuts(), new Map(Object.entries({ one: 1000, two: 1200 })));
  await store.access.signOut('two', 1600, 500);
  assert.deepEqual(await store.access.signOuts(), new Map(Object.entries({ two: 1600 })));
});
