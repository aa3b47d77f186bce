import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_LIMITS } from '../../../src/http/deps.ts';
import { ADVICE } from '../../../src/http/error-docs.ts';

test('every limit limits, and those that are documented are as documented', () => {
  for (const [name, value] of Object.entries(DEFAULT_LIMITS))
    assert.ok(value > 0 && Number.isFinite(value), name);
  assert.match(ADVICE['body-too-large'], new RegExp(`\\b${DEFAULT_LIMITS.bodyBytes / 1024} kB`));
  assert.match(ADVICE['headers-too-large'], new RegExp(`\\b${DEFAULT_LIMITS.headerBytes / 1024} kB`));
});

test('a store that does not answer is told within a second, and a stream shows life before its socket is closed', () => {
  assert.ok(DEFAULT_LIMITS.storeTimeoutMs < 1000);
  assert.ok(DEFAULT_LIMITS.requestTimeoutMs < DEFAULT_LIMITS.handlerTimeoutMs);
  assert.ok(DEFAULT_LIMITS.heartbeatMs < DEFAULT_LIMITS.connectionTimeoutMs);
});
