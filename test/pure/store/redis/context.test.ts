import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_STORE_LIMITS } from '../../../../src/store/redis/context.ts';

test('the default limits agree with one another', () => {
  for (const [name, value] of Object.entries(DEFAULT_STORE_LIMITS)) assert.ok(value > 0, name);
  assert.ok(DEFAULT_STORE_LIMITS.acceptShare <= 0.7, 'admission stops far below maxmemory');
  assert.ok(DEFAULT_STORE_LIMITS.inlineBytes <= DEFAULT_STORE_LIMITS.appendBytes);
  // 8,000 values are the most that a script can spread into one command.
  assert.ok(DEFAULT_STORE_LIMITS.appendEvents * 6 < 8000);
});
