import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyNames } from '../../../../src/store/access/idempotency.ts';

test('each caller has keys of its own; older ones count for who sees every project', () => {
  const key = { key: 'k', digest: 'd' };
  const one = keyNames({ ...key, caller: { id: 'a', project: null } }).split(' ');
  const bound = keyNames({ ...key, caller: { id: 'b', project: 'p' } }).split(' ');
  const shared = keyNames(key);
  assert.equal(one.length, 2);
  assert.equal(one[1], shared);
  assert.equal(bound.length, 1);
  assert.equal(new Set([...one, ...bound, shared]).size, 3);
  assert.equal(keyNames(undefined), '');
});
