import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Redis } from 'ioredis';
import type { Lease, TakenOver } from '../../../src/store/attempts/types.ts';
import type { Store } from '../../../src/store/store.ts';
import { claim as claimOn } from '../../support/claim.ts';
import { claimed, lost, running, storeFor, submitInput } from '../../support/store.ts';

const ROOT = '{echelon}';
const taker = (dispatcher: string, suspects = true) => ({ dispatcher, leaseMs: 60_000, limit: 10, suspects });

/** An attempt whose launch is under way, held by `dispatcher-1`. */
async function launching(store: Store): Promise<Lease> {
  const { id } = await store.experiments.submit(submitInput());
  return await claimed(store, id);
}

/** Loses the holder of one attempt, and takes that over. */
async function takeOverLost(
  { store, redis }: { store: Store; redis: Redis },
  experiment: string,
  dispatcher: string,
): Promise<TakenOver> {
  await lost(redis, experiment);
  const [taken, ...others] = await store.attempts.takeOver(taker(dispatcher));
  assert.equal(taken?.lease.experiment, experiment);
  assert.deepEqual(others, []);
  return taken;
}

describe('suspects', () => {
  /* Fails without `charge` in redis/lua/suspects.lua. */
  test('an attempt that is alone unsettled with each lost dispatcher is charged, and the third time quarantined', async (t) => {
    const bench = await storeFor(t);
    const { store, redis } = bench;
    const { experiment } = await launching(store);
    for (const count of [1, 2]) {
      const { crashes, lease } = await takeOverLost(bench, experiment, `d${count + 1}`);
      assert.equal(crashes.length, count);
      const { at, ...rest } = crashes.at(-1)!;
      assert.deepEqual(rest, {
        attempt: 1,
        during: 'launch',
        dispatcher: count === 1 ? 'dispatcher-1' : `d${count}`,
      });
      const [seconds] = (await redis.time()) as [number, number];
      assert.ok(Math.abs(at - Number(seconds) * 1000) < 60_000);
      assert.equal(lease.attempt, 1);
      assert.equal((await store.experiments.get(experiment))?.quarantined, false);
    }
    const third = await takeOverLost(bench, experiment, 'd4');
    assert.equal(third.crashes.length, 3);
    assert.equal(third.lease.attempt, 1);
    assert.equal((await store.experiments.get(experiment))?.quarantined, true);
    // What happens from then on happens to a takeover, and the evidence stays.
    await store.attempts.settle(third.lease);
    const fourth = await takeOverLost(bench, experiment, 'd5');
    assert.equal(fourth.crashes.length, 3);
    const fifth = await takeOverLost(bench, experiment, 'd6');
    assert.equal(fifth.crashes.at(-1)?.during, 'takeover');
    assert.equal(fifth.lease.attempt, 1);
  });

  /* Fails if take-over.lua charges each of them, or takes more than one suspect. */
  test('several attempts that are lost together are charged with nothing, and taken over one at a time', async (t) => {
    const { store, redis } = await storeFor(t);
    const leases = [await launching(store), await launching(store), await launching(store)];
    await lost(redis, ...leases.map(({ experiment }) => experiment));
    assert.deepEqual(await store.attempts.takeOver(taker('young', false)), []);
    const waiting = await store.experiments.submit(submitInput());
    const left = new Set(leases.map(({ experiment }) => experiment));
    for (let count = 0; count < leases.length; count += 1) {
      const [taken, ...others] = await store.attempts.takeOver(taker('d2'));
      assert.ok(taken && left.delete(taken.lease.experiment));
      assert.deepEqual([taken.crashes, others], [[], []]);
      assert.deepEqual(await store.attempts.takeOver(taker('d2')), []);
      const claim = {
        experiment: waiting.id,
        cluster: 'local',
        nodes: [{ id: 'n', gpus: 0, cpus: 1 }],
        leaseMs: 60_000,
      };
      const { version: allocationVersion } = await store.clusters.allocations('local');
      assert.deepEqual(await claimOn(store, { ...claim, allocationVersion, dispatcher: 'd2' }), {
        outcome: 'busy',
      });
      await store.attempts.confirm(taken.lease);
    }
    assert.equal((await claimed(store, waiting.id)).attempt, 1);
    assert.equal(await redis.exists(`${ROOT}:suspects`, `${ROOT}:alone:d2`, `${ROOT}:unsettled:d2`), 0);
  });

  test('two dispatchers take one suspect each', async (t) => {
    const { store, redis } = await storeFor(t);
    const leases = [await launching(store), await launching(store)];
    await lost(redis, ...leases.map(({ experiment }) => experiment));
    const taken = [
      ...(await store.attempts.takeOver(taker('d2'))),
      ...(await store.attempts.takeOver(taker('d3'))),
    ];
    assert.equal(new Set(taken.map(({ lease }) => lease.experiment)).size, 2);
  });

  /* Fails where a dispatcher takes a suspect beside an attempt of its own that is not settled. */
  test('a dispatcher with an unsettled attempt first makes room for a suspect', async (t) => {
    const { store, redis } = await storeFor(t);
    const suspect = await launching(store);
    await lost(redis, suspect.experiment);
    const { id } = await store.experiments.submit(submitInput());
    const { version } = await store.clusters.allocations('local');
    const own = await claimOn(store, {
      experiment: id,
      cluster: 'local',
      nodes: [{ id: 'n', gpus: 0, cpus: 1 }],
      leaseMs: 60_000,
      allocationVersion: version,
      dispatcher: 'd2',
    });
    assert.ok(own.outcome === 'claimed');
    assert.deepEqual(await store.attempts.takeOver(taker('d2')), []);
    const woken = Promise.withResolvers<void>();
    t.after(await store.onWake((topic) => topic === 'lease' && woken.resolve()));
    await store.attempts.settle(own.lease);
    await woken.promise;
    assert.equal((await store.attempts.takeOver(taker('d2'))).length, 1);
  });

  /* Fails where a lease that runs out is the same as a crash: quiet trainings are condemned with their dispatcher. */
  test('a settled attempt is no suspect, however often its dispatchers are lost', async (t) => {
    const bench = await storeFor(t);
    const { store, redis } = bench;
    const leases = [await running(store), await running(store)];
    const ids = leases.map(({ experiment }) => experiment);
    for (const dispatcher of ['d2', 'd3', 'd4', 'd5']) {
      await lost(redis, ...ids);
      const taken = await store.attempts.takeOver(taker(dispatcher, false));
      assert.deepEqual(
        taken.map(({ crashes, lease }) => [crashes, lease.attempt]),
        [
          [[], 1],
          [[], 1],
        ],
      );
      for (const { lease } of taken) await store.attempts.settle(lease);
    }
  });

  test('what an attempt is charged with is gone once it is settled, or has ended', async (t) => {
    const bench = await storeFor(t);
    const { store, redis } = bench;
    const { experiment } = await running(store);
    await lost(redis, experiment);
    assert.deepEqual((await store.attempts.takeOver(taker('d2')))[0]?.crashes, []);
    assert.equal((await takeOverLost(bench, experiment, 'd3')).crashes[0]?.during, 'takeover');
    const { lease, crashes } = await takeOverLost(bench, experiment, 'd4');
    assert.equal(crashes.length, 2);
    await store.attempts.settle(lease);
    const next = await takeOverLost(bench, experiment, 'd5');
    assert.deepEqual(next.crashes, []);
    await store.attempts.end((await takeOverLost(bench, experiment, 'd6')).lease, {
      to: 'queued',
      reason: 'it was killed',
    });
    assert.equal(await redis.hexists(`${ROOT}:x:${experiment}`, 'crashes'), 0);
    assert.equal(await redis.exists(`${ROOT}:suspects`), 0);
  });

  /* Fails where quarantine keeps an attempt among those that are taken with care: it would block them. */
  test('an attempt whose takeovers led to quarantine is taken like any other', async (t) => {
    const bench = await storeFor(t);
    const { store, redis } = bench;
    const { experiment } = await running(store);
    await lost(redis, experiment);
    await store.attempts.takeOver(taker('d1'));
    for (const dispatcher of ['d2', 'd3', 'd4']) await takeOverLost(bench, experiment, dispatcher);
    await lost(redis, experiment);
    const [taken] = await store.attempts.takeOver(taker('young', false));
    assert.deepEqual([taken?.crashes.length, taken?.state, taken?.confirmed], [3, 'running', true]);
    assert.equal(await redis.exists(`${ROOT}:unsettled:young`), 0);
  });

  describe('nothing is charged to an attempt', () => {
    test('that was let go in good order', async (t) => {
      const { store, redis } = await storeFor(t);
      const lease = await launching(store);
      await store.attempts.release([lease]);
      assert.deepEqual((await store.attempts.takeOver(taker('d2', false)))[0]?.crashes, []);
      assert.equal(await redis.exists(`${ROOT}:suspects`), 0);
    });

    /* Fails without answersSteadily in take-over.lua: the takeover may run before the renewals that follow it. */
    test('whose lease ran out while the store did not answer', async (t) => {
      const { store, redis } = await storeFor(t);
      const lease = await launching(store);
      await redis.zadd(`${ROOT}:leases`, 1, lease.experiment);
      assert.deepEqual(await store.attempts.takeOver(taker('d2')), []);
      assert.deepEqual(await store.attempts.takeOver(taker('d3')), []);
      assert.equal((await store.attempts.renew([lease], 60_000))[0]?.status, 'held');
      assert.equal(await redis.exists(`${ROOT}:suspects`), 0);
    });

    test('whose lease ran out less than half a lease ago', async (t) => {
      const { store, redis } = await storeFor(t);
      const lease = await launching(store);
      await lost(redis, lease.experiment);
      const [seconds] = (await redis.time()) as [number, number];
      await redis.zadd(`${ROOT}:leases`, Number(seconds) * 1000 - 5_000, lease.experiment);
      assert.deepEqual(await store.attempts.takeOver(taker('d2')), []);
    });

    test('that comes back to its own dispatcher', async (t) => {
      const { store, redis } = await storeFor(t);
      const { experiment } = await launching(store);
      await redis.zadd(`${ROOT}:leases`, 1, experiment);
      const [taken] = await store.attempts.takeOver(taker('dispatcher-1', false));
      assert.deepEqual([taken?.lease.attempt, taken?.crashes], [1, []]);
    });
  });
});
