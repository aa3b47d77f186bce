import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ArchiveStore } from '../../../../src/store/archive/contract.ts';
import { storeFor, type TestStore } from '../../../support/store.ts';

test('the store does what retention needs', async (t) => {
  const { store }: TestStore = await storeFor(t);
  const part: ArchiveStore = store.archive;
  assert.deepEqual(await part.take({ limit: 1, leaseMs: 1000, afterMs: 0 }), []);
});
