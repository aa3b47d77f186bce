import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as contract from '../../../src/store/store.ts';

test('the contract is types alone: who imports it depends on no implementation', () => {
  assert.deepEqual(Object.keys(contract), []);
});
