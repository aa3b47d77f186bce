import assert from 'node:assert/strict';
import { test } from 'node:test';
import { present } from '../../src/base/present.ts';

test('undefined entries are gone, everything else stays', () => {
  assert.deepEqual(Object.keys(present({ a: undefined, b: 0, c: null, d: '' })), ['b', 'c', 'd']);
});
