import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EchelonError } from '../../../../src/core/errors.ts';
import { isLeaseLost, isRetryable, whyUnfollowable } from '../../../../src/dispatch/attempt/faults.ts';
import { RayWorkerError } from '../../../../src/rpc/status.ts';

test('transient faults and a refused token are retryable', () => {
  for (const fault of ['unreachable', 'denied', 'exhausted'] as const)
    assert.ok(isRetryable(new RayWorkerError(fault, '')), fault);
  assert.ok(isRetryable(new EchelonError('store-unavailable', '')));
  for (const error of [
    new RayWorkerError('invalid', ''),
    new EchelonError('lease-lost', ''),
    new Error('x'),
    null,
  ])
    assert.ok(!isRetryable(error));
});

test('a lost lease is recognised by its error code', () => {
  assert.ok(isLeaseLost(new EchelonError('lease-lost', '')));
  assert.ok(!isLeaseLost(new Error('lease-lost')));
});

test('an attach that cannot succeed returns the reason', () => {
  for (const fault of ['unknown-attempt', 'ahead', 'damaged', 'invalid'] as const)
    assert.match(whyUnfollowable(new RayWorkerError(fault, 'detail')) ?? '', /detail/);
  assert.equal(whyUnfollowable(new RayWorkerError('unreachable', '')), null);
  assert.equal(whyUnfollowable(new Error('x')), null);
});
