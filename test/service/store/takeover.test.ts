import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createKeys } from '../../../src/store/redis/keys.ts';
import { claim as claimOn } from '../../support/claim.ts';
import { until } from '../../support/dispatch.ts';
import { claimed, coded, lost, running, storeFor, submitInput } from '../../support/store.ts';

const keys = createKeys('echelon');
const TAKER = { dispatcher: 'd2', leaseMs: 60_000, limit: 10, suspects: true };

describe('leases', () => {
  /*
   * The clock of this process is wrong by an hour, in both directions. Seen to fail where a lease's end is computed
   * from Date.now(), or where an expired lease is looked for by it.
   */
  test('run out by the clock of the server only', async (t) => {
    const { store, redis } = await storeFor(t);
    const trueNow = Date.now;
    t.after(() => {
      Date.now = trueNow;
    });
    for (const skewMs of [3_600_000, -3_600_000]) {
      Date.now = () => trueNow() + skewMs;
      const lease = await running(store, { leaseMs: 5000 });
      assert.deepEqual(await store.attempts.takeOver(TAKER), []);
      const [seconds] = (await redis.time()) as [number, number];
      const expiry = Number(await redis.zscore(keys.leases, lease.experiment));
      assert.ok(Math.abs(expiry - Number(seconds) * 1000 - 5000) < 4000, 'the lease does not end in 5 s');
      await redis.zadd(keys.leases, Number(seconds) * 1000 - 1, lease.experiment);
      assert.equal((await store.attempts.takeOver(TAKER)).length, 1);
    }
  });

  /* Fails where take-over.lua believes times that are later than the clock: a lost dispatcher is then found an hour later. */
  test('end within a lease after the clock of the server was set back by an hour', async (t) => {
    const { store, redis } = await storeFor(t);
    const taker = { ...TAKER, leaseMs: 100 };
    const taken = async () => {
      const leases = (await store.attempts.takeOver(taker)).map(({ lease }) => lease);
      for (const lease of leases) await store.attempts.settle(lease);
      return leases.map(({ experiment }) => experiment);
    };
    const { id: launching } = await store.experiments.submit(submitInput());
    await claimed(store, launching);
    const { experiment } = await running(store);
    assert.deepEqual(await taken(), []);
    const [seconds] = (await redis.time()) as [number, number];
    const ahead = Number(seconds) * 1000 + 3_600_000;
    for (const id of [launching, experiment]) await redis.zadd(keys.leases, ahead, id);
    await redis.set(`${keys.root}:answering`, `${ahead - 1000} ${ahead}`);
    const found = new Set<string>();
    await until(
      async () => {
        for (const id of await taken()) found.add(id);
        return found.size === 2;
      },
      'both are taken over',
      { seconds: 20, instead: () => found },
    );
  });

  test('a confirmed attempt is kept under a new token', async (t) => {
    const { store, redis } = await storeFor(t);
    const lease = await running(store);
    await redis.zadd(keys.leases, 1, lease.experiment);
    const [taken] = await store.attempts.takeOver(TAKER);
    assert.ok(taken && taken.lease.token !== lease.token);
    assert.deepEqual(taken, {
      lease: { ...lease, token: taken.lease.token },
      state: 'running',
      cluster: 'local',
      confirmed: true,
      lastSequence: 0,
      crashes: taken.crashes,
    });
    const types = (await store.events.read(lease.experiment, undefined, 10)).length;
    assert.equal(types, 3, 'nothing has changed that a watcher should see');
  });

  /* Fails if take-over.lua gives the number up: a driver that has started would be stopped, and its steps lost. */
  test('one that was never confirmed keeps its number and its allocation', async (t) => {
    const { store, redis } = await storeFor(t);
    const { id } = await store.experiments.submit(submitInput());
    const lease = await claimed(store, id);
    const before = await store.clusters.allocations('local');
    await lost(redis, id);
    const [taken] = await store.attempts.takeOver(TAKER);
    assert.equal(taken?.lease.attempt, 1);
    assert.equal(taken.confirmed, false);
    assert.equal(taken.state, 'launching');
    assert.deepEqual(await store.clusters.allocations('local'), before);
    assert.deepEqual(await store.events.read(id, '1-0', 10), [], 'a watcher sees no change');
    assert.deepEqual(
      (await store.attempts.list(id)).map(({ attempt, confirmedAt }) => [attempt, confirmedAt]),
      [[1, null]],
    );
    await assert.rejects(store.attempts.confirm(lease), coded('lease-lost'));
    assert.equal(await store.attempts.confirm(taken.lease), 'running');
    assert.deepEqual(await store.queue.ids(10), []);
  });

  test('one that is cancelling and was never confirmed is to be stopped, not launched', async (t) => {
    const { store, redis } = await storeFor(t);
    const { id } = await store.experiments.submit(submitInput());
    await claimed(store, id);
    assert.equal(await store.experiments.cancel(id, 'enough'), 'cancelling');
    await lost(redis, id);
    const [taken] = await store.attempts.takeOver(TAKER);
    assert.deepEqual([taken?.lease.attempt, taken?.state, taken?.confirmed], [1, 'cancelling', false]);
    assert.equal(await store.attempts.end(taken!.lease, { to: 'cancelled', reason: 'fenced' }), 'cancelled');
  });

  test('one that was released is taken at once', async (t) => {
    const { store } = await storeFor(t);
    const lease = await running(store);
    assert.deepEqual(await store.attempts.takeOver(TAKER), []);
    await store.attempts.release([lease]);
    assert.equal((await store.attempts.takeOver(TAKER)).length, 1);
  });

  /* Seen to fail without the look at the server's run in take-over.lua, and without the mark that claim.lua sets. */
  test('a restart of the server gives every holder one more lease, once', async (t) => {
    const { store, redis, server } = await storeFor(t);
    const held = [await running(store), await running(store)];
    const released = await running(store);
    await store.attempts.release([released]);
    for (const lease of held) await redis.zadd(keys.leases, 1, lease.experiment);
    await server.restart();
    const first = await store.attempts.takeOver(TAKER);
    assert.deepEqual(
      first.map((taken) => taken.lease.experiment),
      [released.experiment],
    );
    assert.deepEqual(
      (await store.attempts.renew(held, 60_000)).map((renewal) => renewal.status),
      ['held', 'held'],
    );
    for (const lease of held) await redis.zadd(keys.leases, 1, lease.experiment);
    assert.equal(
      (await store.attempts.takeOver(TAKER)).length,
      2,
      'no second grace without a second restart',
    );
  });

  /* A step whose answer was lost is sent again by the client. Seen to fail without the allocation's id, and the token. */
  test('an allocation and an acquisition that are carried out twice count once', async (t) => {
    const { store, redis } = await storeFor(t);
    const { id } = await store.experiments.submit(submitInput());
    const original = redis as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    for (const name of ['echelon:allocate', 'echelon:acquire']) {
      const step = original[name]!.bind(redis);
      original[name] = async (...args) => {
        await step(...args);
        return await step(...args);
      };
    }
    const lease = await claimed(store, id);
    assert.equal(lease.attempt, 1);
    assert.equal((await store.clusters.allocations('local')).version, 1);
    assert.equal(await store.attempts.confirm(lease), 'running');
  });

  // Fails where giving back counts: while many attempts end, most claims would be refused.
  test('a claim that was decided before something was given back is carried out', async (t) => {
    const { store } = await storeFor(t);
    const [first, second] = [
      await store.experiments.submit(submitInput()),
      await store.experiments.submit(submitInput()),
    ];
    const lease = await claimed(store, first.id);
    const { version } = await store.clusters.allocations('local');
    await store.attempts.end(lease, { to: 'failed', reason: 'for its allocation' });
    const claim = await claimOn(store, {
      experiment: second.id,
      cluster: 'local',
      nodes: [{ id: 'n', gpus: 1, cpus: 1 }],
      allocationVersion: version,
      dispatcher: 'd',
      leaseMs: 60_000,
    });
    assert.equal(claim.outcome, 'claimed');
  });

  test('a claim against allocations that have changed is refused', async (t) => {
    const { store } = await storeFor(t);
    const inputs = [submitInput(), submitInput()];
    for (const input of inputs) await store.experiments.submit(input);
    const { version } = await store.clusters.allocations('local');
    const claims = await Promise.all(
      inputs.map((input) =>
        claimOn(store, {
          experiment: input.id,
          cluster: 'local',
          nodes: [{ id: 'n', gpus: 1, cpus: 1 }],
          allocationVersion: version,
          dispatcher: 'd',
          leaseMs: 60_000,
        }),
      ),
    );
    assert.deepEqual(
      claims.map((claim) => claim.outcome),
      ['claimed', 'changed'],
    );
    assert.equal(await store.clusters.remove('local'), 'busy');
    const [claim] = claims;
    assert.ok(claim?.outcome === 'claimed');
    await store.attempts.end(claim.lease, { to: 'failed', reason: 'for its allocation' });
    const ended = (await store.clusters.allocations('local')).version;
    assert.equal(ended, version + 1);
    // A choice made before the removal is refused after it.
    await store.clusters.remove('local');
    assert.ok((await store.clusters.allocations('local')).version > ended);
  });
});
