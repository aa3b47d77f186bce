import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RayTimeoutError } from '../../../src/ray/errors.ts';
import { withTimeout } from '../../../src/ray/timeout.ts';

test('the value, its error, or a timeout', async () => {
  assert.equal(await withTimeout(Promise.resolve(1), 1_000, 'x'), 1);
  assert.equal(await withTimeout(Promise.resolve(1), undefined, 'x'), 1);
  await assert.rejects(withTimeout(Promise.reject(new TypeError('own')), 1_000, 'x'), TypeError);
  const never = new Promise(() => {});
  await assert.rejects(withTimeout(never, 1, 'waiting'), (error) => {
    return error instanceof RayTimeoutError && error.timeoutMs === 1 && /^waiting took/.test(error.message);
  });
});
