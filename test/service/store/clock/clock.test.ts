import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRetentionLoops } from '../../../../src/dispatch/background/retention.ts';
import { isLeapt } from '../../../../src/store/clock/judge.ts';
import { watchClock } from '../../../../src/store/clock/watch-clock.ts';
import { QUIET, until } from '../../../support/dispatch.ts';
import { redisFor } from '../../../support/redis.ts';
import { redisClockFor } from '../../../support/redis-clock.ts';
import { claimed, running, type Scope, storeFor, submitInput } from '../../../support/store.ts';

const DAY_MS = 24 * 3_600_000;
const LEASE_MS = 15_000;

/** A store on a Redis whose clock the test shifts; `watch` begins to watch it, as every process does. */
async function benchFor(t: Scope) {
  const clock = await redisClockFor(t);
  const server = await redisFor(t, clock.redis);
  const parts = await storeFor(t, { server });
  const { store, redis } = parts;
  const watch = async () => {
    const watching = await watchClock(store);
    t.after(async () => watching.stop());
    return watching;
  };
  const judged = (leapt: boolean) =>
    until(async () => isLeapt((await store.clock.read()).correction) === leapt, `the leap is ${leapt}`);
  const leaseEnd = async (id: string) =>
    Number(await redis.zscore('{echelon}:leases', id)) - (await store.clock.read()).time;
  return { ...parts, clock, watch, judged, leaseEnd };
}

test('a leap of the clock of Redis by 800 days ends no lease and deletes nothing', async (t) => {
  const { store, redis, clock, watch, judged, leaseEnd } = await benchFor(t);
  const ended = await running(store);
  await store.attempts.end(ended, { to: 'succeeded', reason: 'done' });
  await store.archive.archiveStream(ended.experiment);
  const lease = await running(store, { leaseMs: LEASE_MS });
  const watching = await watch();
  const before = watching.now();
  await clock.shift(800 * DAY_MS);
  const taken = () => store.attempts.takeOver({ dispatcher: 'b', leaseMs: LEASE_MS, limit: 9 });
  assert.deepEqual(await taken(), [], 'before a process has noticed the leap');
  await store.attempts.renew([lease], LEASE_MS);
  assert.ok((await leaseEnd(lease.experiment)) <= LEASE_MS);
  await judged(true);
  assert.deepEqual(await taken(), [], 'after that');
  const rounds = createRetentionLoops({
    store,
    dispatcher: 'a',
    everyMs: 100,
    archiveAfterMs: 0,
    log: QUIET,
    rayWorkerOf: () => Promise.reject(new Error('no ray-worker')),
  });
  rounds.start();
  await until(async () => (await store.clock.read()).time > before + 3_000, 'time passes');
  await rounds.stop();
  assert.notEqual(
    await redis.zscore('{echelon}:due:batches:default', ended.experiment),
    null,
    'nothing was deleted',
  );
  assert.ok(watching.now() < before + DAY_MS);
  await clock.shift(0);
  await judged(false);
  assert.ok(
    (await leaseEnd(lease.experiment)) <= LEASE_MS,
    'the lease does not last longer after the return',
  );
});

test('a clock that was set ahead beside a restart of all processes is noticed at the start', async (t) => {
  const { store, clock, watch, judged } = await benchFor(t);
  (await watch()).stop();
  await clock.shift(800 * DAY_MS);
  const { time } = await store.clock.read();
  const watching = await watch();
  await judged(true);
  assert.ok(Math.abs(watching.now() - time) < 60_000);
});

test('an operator who confirms the clock moves leases and due notifications with it', async (t) => {
  const { store, redis, clock, watch, judged, leaseEnd } = await benchFor(t);
  const lease = await running(store, { leaseMs: LEASE_MS });
  await watch();
  await clock.shift(-DAY_MS);
  await judged(true);
  const { correction } = await store.clock.read();
  assert.equal(await store.clock.confirm(correction + 1), false, 'another leap than the one that was seen');
  const left = await leaseEnd(lease.experiment);
  const end = Number(await redis.zscore('{echelon}:leases', lease.experiment));
  for (const key of ['deliveries', 'waits'])
    await redis.zadd(`{echelon}:${key}`, end + 60_000, 'later', 0, 'now', 'inf', 'never');
  assert.equal(await store.clock.confirm(correction), true);
  assert.ok(Math.abs((await leaseEnd(lease.experiment)) - left) < 5_000);
  const moved = Number(await redis.zscore('{echelon}:leases', lease.experiment));
  for (const key of ['deliveries', 'waits'])
    assert.deepEqual(
      await redis.zmscore(`{echelon}:${key}`, 'later', 'now', 'never'),
      [String(moved + 60_000), '0', 'inf'],
      key,
    );
  await until(async () => (await store.clock.read()).seen !== null, 'it is watched');
  assert.equal((await store.clock.read()).correction, 0);
});

test('what a leapt clock dated far ahead blocks no process after its return', async (t) => {
  const { store, redis, clock } = await benchFor(t);
  const { id } = await store.experiments.submit(submitInput());
  await clock.shift(DAY_MS);
  await redis.set('{echelon}:alone:dispatcher-1', '1', 'PX', LEASE_MS);
  assert.equal(await store.retention.hold('a', LEASE_MS), true);
  await clock.shift(0);
  assert.equal(await store.retention.hold('b', LEASE_MS), true, 'the lease of retention');
  assert.equal((await claimed(store, id, LEASE_MS)).experiment, id, 'a dispatcher alone with a suspect');
});
