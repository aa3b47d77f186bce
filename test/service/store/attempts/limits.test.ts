import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Redis } from 'ioredis';
import { createKeys } from '../../../../src/store/redis/keys.ts';
import { claimed, running, storeFor, submitInput } from '../../../support/store.ts';

const keys = createKeys('echelon');
const TAKER = { dispatcher: 'd2', leaseMs: 60_000, limit: 10 };

async function serverNow(redis: Redis): Promise<number> {
  const [seconds] = (await redis.time()) as [number, number];
  return Number(seconds) * 1000;
}

const withLimits = (limits: object) => ({
  resolved: { engine: 'replay', timeoutSeconds: null, deadline: null, ...limits },
});
const at = (ms: number) => ({ deadline: new Date(ms).toISOString() });

describe('a deadline', () => {
  test('a deadline is the instant that JavaScript means by it, of any year', async (t) => {
    const { store, redis } = await storeFor(t);
    for (const text of [
      '1999-12-31T23:59:59.999Z',
      '2024-02-29T12:00:00.000Z',
      '2027-03-01T00:00:00.001Z',
      '2100-12-31T01:02:03.004Z',
    ]) {
      const { id } = await store.experiments.submit(submitInput(withLimits({ deadline: text })));
      assert.equal(Number(await redis.hget(keys.experiment(id), 'deadlineAt')), Date.parse(text), text);
    }
  });

  /* Fails without fail-overdue.lua's move. */
  test('a deadline fails a queued experiment at the deadline and not before, by the server’s clock', async (t) => {
    const { store, redis } = await storeFor(t);
    const now = await serverNow(redis);
    const { id: late } = await store.experiments.submit(submitInput(withLimits(at(now - 1000))));
    const { id: early } = await store.experiments.submit(submitInput(withLimits(at(now + 3_600_000))));
    const { id: free } = await store.experiments.submit(submitInput());
    assert.deepEqual(await store.experiments.failOverdue(10), { failed: [late], more: false });
    const record = await store.experiments.get(late);
    assert.equal(record?.state, 'failed');
    assert.match(record?.reason ?? '', /deadline passed before it could start/);
    assert.ok(record?.endedAt);
    assert.deepEqual(await store.queue.ids(10), [early, free]);
    assert.deepEqual(await store.experiments.failOverdue(10), { failed: [], more: false });
  });

  /* Fails without the check in allocate.lua. */
  test('a deadline refuses an allocation that comes after it', async (t) => {
    const { store, redis } = await storeFor(t);
    const { id } = await store.experiments.submit(
      submitInput(withLimits(at((await serverNow(redis)) - 1000))),
    );
    await assert.rejects(claimed(store, id), /not-queued/);
    assert.equal((await store.experiments.get(id))?.state, 'failed');
  });

  test('ends an experiment whose attempt no dispatcher has acquired', async (t) => {
    const { store, redis } = await storeFor(t);
    const { id } = await store.experiments.submit(
      submitInput(withLimits(at((await serverNow(redis)) + 3_600_000))),
    );
    const start = {
      experiment: id,
      cluster: 'local',
      nodes: [{ id: 'n', gpus: 1, cpus: 1 }],
      project: 'default',
      allocationVersion: 0,
    };
    assert.deepEqual(await store.attempts.allocate([start]), ['allocated']);
    await redis.zadd('{echelon}:deadlines', 1, id);
    assert.deepEqual(await store.experiments.failOverdue(1), { failed: [id], more: true });
    assert.deepEqual(
      [(await store.experiments.get(id))?.state, (await store.clusters.allocations('local')).items],
      ['failed', []],
    );
  });

  test('a deadline is reported at each renewal of a running attempt, also after a takeover', async (t) => {
    const { store, redis } = await storeFor(t);
    const lease = await running(store, { input: withLimits(at((await serverNow(redis)) + 3_600_000)) });
    assert.equal((await store.attempts.renew([lease], 1000))[0]?.limitReached, null);
    await redis.hset(keys.experiment(lease.experiment), 'deadlineAt', 1);
    assert.equal((await store.attempts.renew([lease], 1000))[0]?.limitReached, 'its deadline has passed');
    await redis.zadd(keys.leases, 1, lease.experiment);
    const [taken] = await store.attempts.takeOver(TAKER);
    assert.equal(
      (await store.attempts.renew([taken!.lease], 1000))[0]?.limitReached,
      'its deadline has passed',
    );
  });

  test('a deadline of what ended in another way is forgotten', async (t) => {
    const { store, redis } = await storeFor(t);
    const { id } = await store.experiments.submit(
      submitInput(withLimits(at((await serverNow(redis)) + 3_600_000))),
    );
    await store.attempts.end(await claimed(store, id), { to: 'failed', reason: '' });
    const { id: other } = await store.experiments.submit(
      submitInput(withLimits(at((await serverNow(redis)) + 3_600_000))),
    );
    await store.experiments.cancel(other, '');
    assert.equal(await redis.zcard('{echelon}:deadlines'), 0);
  });
});

describe('a timeout', () => {
  test('counts for each attempt from its confirmed launch on', async (t) => {
    const { store, redis } = await storeFor(t);
    const lease = await running(store, { input: withLimits({ timeoutSeconds: 60 }) });
    assert.equal((await store.attempts.renew([lease], 1000))[0]?.limitReached, null);
    await redis.hset(keys.attempts(lease.experiment), '1:confirmedAt', (await serverNow(redis)) - 61_000);
    assert.equal(
      (await store.attempts.renew([lease], 1000))[0]?.limitReached,
      'the attempt ran longer than its timeout of 60 s',
    );
  });

  /* A dispatcher that knows nothing of it any more may record the stop. Fails without the look in end.lua. */
  test('a reached limit decides the end, whichever dispatcher records it', async (t) => {
    const { store, redis } = await storeFor(t);
    const lease = await running(store, { input: withLimits({ timeoutSeconds: 60 }) });
    await redis.hset(keys.attempts(lease.experiment), '1:confirmedAt', 1);
    await store.attempts.renew([lease], 1000);
    assert.equal(
      await store.attempts.end(lease, { to: 'queued', reason: 'the driver was stopped' }),
      'failed',
    );
    assert.match(
      (await store.experiments.get(lease.experiment))?.reason ?? '',
      /timeout of 60 s; the driver was stopped$/,
    );
  });

  test('a timeout that was only passed, and never told, decides nothing', async (t) => {
    const { store } = await storeFor(t);
    const lease = await running(store, { input: withLimits({ timeoutSeconds: 60 }) });
    assert.equal(
      await store.attempts.end(lease, { to: 'queued', reason: 'the machine goes down' }),
      'queued',
    );
  });
});

test('the next attempt waits for as long as was decided, by the clock of the server', async (t) => {
  const { store, redis } = await storeFor(t);
  const lease = await running(store);
  await store.attempts.end(lease, { to: 'queued', reason: 'lost', waitMs: 600_000 });
  const [waiting] = await store.queue.first(1);
  const now = await serverNow(redis);
  assert.ok(waiting?.notBefore && Math.abs(waiting.notBefore - now - 600_000) < 5_000);
  await redis.hset(keys.experiment(lease.experiment), 'notBefore', now - 1);
  assert.equal((await store.queue.first(1))[0]?.notBefore, null);
  await claimed(store, lease.experiment);
  assert.equal(await redis.hexists(keys.experiment(lease.experiment), 'notBefore'), 0);
});
