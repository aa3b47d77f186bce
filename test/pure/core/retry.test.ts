import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBackoff, retryUntil } from '../../../src/core/retry.ts';
import { settledWithin } from '../../../src/core/settled-within.ts';

test('a wait is over at once when its signal aborts', async () => {
  const backoff = createBackoff({ firstMs: 2 ** 30, longestMs: 2 ** 30 });
  await backoff.wait(AbortSignal.abort());
  const given = new AbortController();
  const waiting = backoff.wait(given.signal);
  given.abort();
  await waiting;
});

test('waits double up to the longest, are spread, and start over after a reset', async () => {
  const asked: number[] = [];
  const backoff = createBackoff({ firstMs: 10, longestMs: 35 }, async (ms) => void asked.push(ms));
  const { signal } = new AbortController();
  for (let times = 0; times < 4; times += 1) await backoff.wait(signal);
  backoff.reset();
  await backoff.wait(signal);
  for (const [index, full] of [10, 20, 35, 35, 10].entries()) {
    const ms = asked[index] ?? Number.NaN;
    assert.ok(ms >= full / 2 && ms <= full, `${ms} for ${full}`);
  }
  assert.equal(asked.length, 5);
});

test('retryUntil repeats the work while an error may be retried, and rejects with the last error', async () => {
  const waits = { firstMs: 1, longestMs: 1 };
  let tries = 0;
  const failing = async () => {
    tries += 1;
    throw new Error(`try ${tries}`);
  };
  const thrice = retryUntil(failing, { waits, shouldRetry: (_, count) => count < 3 });
  await assert.rejects(thrice, { message: 'try 3' });
  const work = async () => (tries > 3 ? 'done' : await failing());
  assert.equal(await retryUntil(work, { waits, shouldRetry: () => true }), 'done');
});

test('settledWithin tells work that is over from work that is late, and passes its failure on', async () => {
  assert.equal(await settledWithin(10_000, Promise.resolve()), true);
  assert.equal(await settledWithin(1, new Promise(() => {})), false);
  await assert.rejects(settledWithin(10_000, Promise.reject(new Error('x'))), /x/);
});
