import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OP } from '../../src/pickle/opcodes.ts';

test('no two opcodes share a byte', () => {
  const codes = Object.values(OP);
  assert.equal(new Set(codes).size, codes.length);
  for (const code of codes) assert.ok(Number.isInteger(code) && code > 0 && code < 256);
});
