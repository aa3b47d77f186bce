import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EchelonError } from '../../../../src/core/errors.ts';
import { createWaker, orNothing } from '../../../../src/store/redis/waker.ts';

test('a ring that came before anybody waited is not lost, and one comes by itself', async () => {
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

test('orNothing passes over a server that does not answer, and nothing else', async () => {
  assert.equal(await orNothing(Promise.resolve(3)), 3);
  assert.equal(await orNothing(Promise.reject(new EchelonError('store-unavailable', 'away'))), undefined);
  await assert.rejects(orNothing(Promise.reject(new EchelonError('not-found', 'none'))), {
    code: 'not-found',
  });
});
