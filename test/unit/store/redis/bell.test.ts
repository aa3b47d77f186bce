import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EchelonError } from '../../../../src/core/errors.ts';
import { createBell, orNothing } from '../../../../src/store/redis/bell.ts';

test('a ring that came before anybody waited is not lost, and one comes by itself', async () => {
  const bell = createBell();
  bell.ring();
  await bell.rung(60_000);
  bell.quiet();
  const waiting = bell.rung(60_000);
  bell.ring();
  await waiting;
  bell.quiet();
  await bell.rung(1);
  bell.stop();
});

test('orNothing passes over a server that does not answer, and nothing else', async () => {
  assert.equal(await orNothing(Promise.resolve(3)), 3);
  assert.equal(await orNothing(Promise.reject(new EchelonError('store-unavailable', 'away'))), undefined);
  await assert.rejects(orNothing(Promise.reject(new EchelonError('not-found', 'none'))), {
    code: 'not-found',
  });
});
