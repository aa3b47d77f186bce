import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { RaySessionLostError } from '../src/errors.ts';
import { errorFromStatus, isReconnectable, sessionLost } from '../src/status.ts';

const failure = (code: number, details = 'why'): ServiceError =>
  Object.assign(new Error(`${code} ${details}`), { code, details, metadata: new Metadata() });
const context = { what: 'kv.get', address: 'h:1', timeoutMs: 7 };

test('each status has its class', () => {
  const expected: [number, string, RegExp][] = [
    [status.UNAUTHENTICATED, 'unauthenticated', /RAY_AUTH_TOKEN_PATH/],
    [status.PERMISSION_DENIED, 'unauthenticated', /h:1 refused: why/],
    [status.UNAVAILABLE, 'unreachable', /h:1 cannot be reached: why/],
    [status.DEADLINE_EXCEEDED, 'timeout', /kv\.get took longer than 7 ms/],
    [status.NOT_FOUND, 'request', /kv\.get failed: why/],
  ];
  for (const [code, ours, message] of expected) {
    const error = errorFromStatus(failure(code), context);
    assert.equal(error.code, ours);
    assert.match(error.message, message);
  }
});

test('ABORTED carries a Python exception', () => {
  // pickle.dumps(ValueError('bad'))
  const pickle = Buffer.from('80028c086275696c74696e738c0a56616c75654572726f72938c0362616485522e', 'hex');
  const error = errorFromStatus(failure(status.ABORTED, pickle.toString('base64')), context);
  assert.equal(error.message, 'ValueError: bad');
});

test('what can be taken up again', () => {
  for (const code of [status.UNAVAILABLE, status.INTERNAL, status.UNKNOWN, status.CANCELLED]) {
    assert.ok(isReconnectable(code));
  }
  for (const code of [status.NOT_FOUND, status.FAILED_PRECONDITION, status.ABORTED, status.UNAUTHENTICATED]) {
    assert.ok(!isReconnectable(code));
  }
});

test('a lost session says why', () => {
  const lost = sessionLost('the session is gone', failure(status.NOT_FOUND));
  assert.ok(lost instanceof RaySessionLostError);
  assert.equal(lost.message, 'the session is gone: why');
  assert.equal(sessionLost('gone').message, 'gone');
  assert.equal(sessionLost('gone', failure(status.UNAUTHENTICATED)).code, 'unauthenticated');
});
