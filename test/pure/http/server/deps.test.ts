import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_LIMITS } from '../../../../src/http/server/deps.ts';
import { ADVICE } from '../../../../src/http/server/error-docs.ts';

test('every limit is a positive number, and the advice on errors states its value', () => {
  for (const [name, value] of Object.entries(DEFAULT_LIMITS))
    assert.ok(value > 0 && Number.isFinite(value), name);
  assert.match(ADVICE['body-too-large'], new RegExp(`\\b${DEFAULT_LIMITS.bodyBytes / 1024} kB`));
  assert.match(ADVICE['headers-too-large'], new RegExp(`\\b${DEFAULT_LIMITS.headerBytes / 1024} kB`));
});

test('the deadlines are ordered: store before handler, request before handler, heartbeat before connection', () => {
  assert.ok(DEFAULT_LIMITS.storeTimeoutMs > 2000);
  assert.ok(DEFAULT_LIMITS.storeTimeoutMs < DEFAULT_LIMITS.handlerTimeoutMs);
  assert.ok(DEFAULT_LIMITS.requestTimeoutMs < DEFAULT_LIMITS.handlerTimeoutMs);
  assert.ok(DEFAULT_LIMITS.heartbeatMs < DEFAULT_LIMITS.connectionTimeoutMs);
});

test('open streams use at most half of the connections', () => {
  assert.ok(DEFAULT_LIMITS.streams < DEFAULT_LIMITS.allStreams);
  assert.ok(DEFAULT_LIMITS.allStreams <= DEFAULT_LIMITS.connections / 2);
});
