import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settledWithin } from '../../../src/core/settled-within.ts';

test('settledWithin tells work that is over from work that is late, and passes its failure on', async () => {
  assert.equal(await settledWithin(10_000, Promise.resolve()), true);
  assert.equal(await settledWithin(1, new Promise(() => {})), false);
  await assert.rejects(settledWithin(10_000, Promise.reject(new Error('x'))), /x/);
});
