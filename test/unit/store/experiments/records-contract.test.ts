import assert from 'node:assert/strict';
import { test } from 'node:test';

test('it is types alone', async () => {
  assert.deepEqual(Object.keys(await import('../../../../src/store/experiments/records-contract.ts')), []);
});
