import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchClock } from '../../../../src/store/clock/watch-clock.ts';
import { shiftClock } from '../../../support/shifted-clock.ts';
import { storeFor } from '../../../support/store.ts';

const HOUR_MS = 3_600_000;

test('a clock of the server is the same whatever the clock of the process says', async (t) => {
  const { store } = await storeFor(t);
  t.after(() => shiftClock(0));
  shiftClock(-HOUR_MS);
  const clock = await watchClock(store);
  t.after(() => clock.stop());
  const time = async () => (await store.clock.read()).time;
  const isServerTime = async () => {
    const [earliest, now, latest] = [await time(), clock.now(), await time()];
    // A reading is as exact as the way to the server and back, which takes long on a busy machine.
    assert.ok(earliest - 2_000 <= now && now <= latest + 2_000, `${earliest}, ${now}, ${latest}`);
  };
  await isServerTime();
  shiftClock(HOUR_MS);
  await isServerTime();
});

test('without a server the clock of the process counts', async (t) => {
  const { store } = await storeFor(t);
  const clock = await watchClock({
    clock: { ...store.clock, read: () => Promise.reject(new Error('away')) },
  });
  t.after(() => clock.stop());
  const earliest = Date.now();
  const now = clock.now();
  assert.ok(earliest <= now && now <= Date.now());
});
