import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RayTimeoutError } from '../src/errors.ts';
import { withLimits } from '../src/limits.ts';

const never = () => new Promise<number>(() => {});
const reason = new Error('no longer wanted');

test('withLimits yields the value, its error, or a timeout that says what took how long', async () => {
  assert.equal(await withLimits(async () => 1, { timeoutMs: 1_000 }, 'x'), 1);
  assert.equal(await withLimits(async () => 1, {}, 'x'), 1);
  await assert.rejects(
    withLimits(() => Promise.reject(new TypeError('own')), { timeoutMs: 1_000 }, 'x'),
    TypeError,
  );
  await assert.rejects(withLimits(never, { timeoutMs: 1 }, 'waiting'), (error) => {
    return error instanceof RayTimeoutError && error.timeoutMs === 1 && /^waiting took/.test(error.message);
  });
});

test('withLimits rejects with the reason of an aborted signal, and then starts nothing', async () => {
  const stop = new AbortController();
  const waiting = withLimits(never, { signal: stop.signal, timeoutMs: 60_000 }, 'x');
  stop.abort(reason);
  await assert.rejects(waiting, reason);
  let started = false;
  const start = async () => {
    started = true;
  };
  await assert.rejects(withLimits(start, { signal: stop.signal }, 'x'), reason);
  assert.equal(started, false);
});

test('withLimits tells what it started that the limits are over, and hands over a late value', async () => {
  const stop = new AbortController();
  const { promise, resolve } = Promise.withResolvers<number>();
  const late = Promise.withResolvers<number>();
  let seen: AbortSignal | undefined;
  const start = (signal: AbortSignal | undefined) => {
    seen = signal;
    return promise;
  };
  const waiting = withLimits(start, { signal: stop.signal }, 'x', late.resolve);
  stop.abort(reason);
  await assert.rejects(waiting, reason);
  assert.equal(seen?.reason, reason);
  resolve(7);
  assert.equal(await late.promise, 7);
});
