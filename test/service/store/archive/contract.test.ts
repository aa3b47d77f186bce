import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeFor, type TestStore } from '../../../support/store.ts';

test('the store does what retention needs', async (t) => {
  const { store }: TestStore = await storeFor(t);
  assert.deepEqual(await store.archive.take({ limit: 1, leaseMs: 1000, afterMs: 0 }), []);
});
