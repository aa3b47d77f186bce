import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EchelonError } from '../../../../src/core/errors.ts';
import { createWaker, orNothing } from '../../../../src/store/redis/waker.ts';

test('a wake-up before the wait counts, and a timeout ends the wait', async () => {
  const waker = createWaker();
  waker.wake();
  await waker.wait(60_000);
  waker.reset();
  const waiting = waker.wait(60_000);
  waker.wake();
  await waiting;
  waker.reset();
  await waker.wait(1);
  waker.stop();
});

test('orNothing returns undefined for an unavailable server and rethrows other errors', async () => {
  assert.equal(await orNothing(Promise.resolve(3)), 3);
  assert.equal(await orNothing(Promise.reject(new EchelonError('store-unavailable', 'away'))), undefined);
  await assert.rejects(orNothing(Promise.reject(new EchelonError('not-found', 'none'))), {
    code: 'not-found',
  });
});
