import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortNode } from '../src/short-node.ts';

test('a long node id is said by its first letters, a name as it is', () => {
  assert.equal(shortNode('a'.repeat(56)), 'aaaaaaaa');
  assert.equal(shortNode('gpu-02'), 'gpu-02');
});
