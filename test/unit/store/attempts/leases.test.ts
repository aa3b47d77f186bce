import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { STATES, type State, TRANSITIONS } from '../../../../src/core/states.ts';
import type { Lease } from '../../../../src/store/attempts/contract.ts';
import { createKeys } from '../../../../src/store/redis/keys.ts';
import { redisFor } from '../../../support/redis.ts';
import { claimed, coded, running, storeFor, submitInput } from '../../../support/store.ts';

const keys = createKeys('echelon');

describe('end', () => {
  /* Seen to fail where end.lua does not look at the states that the decision may follow. */
  test('follows the table of states and nothing else', async (t) => {
    const { store } = await storeFor(t, { server: await redisFor(t, { appendfsync: 'no' }) });
    for (const from of ['launching', 'running'] as const) {
      for (const to of ['queued', 'succeeded', 'failed', 'cancelled'] as const) {
        const { id } = await store.submit(submitInput());
        const lease = await claimed(store, id);
        if (from === 'running') await store.confirm(lease);
        const end = store.end(lease, { to, reason: 'because' });
        if (TRANSITIONS[from].includes(to)) {
          assert.equal(await end, to);
          assert.deepEqual((await store.get(id))?.reason, 'because');
        } else {
          await assert.rejects(end, coded('internal'), `${from} → ${to}`);
          assert.equal((await store.get(id))?.state, from);
          assert.equal((await store.renew([lease], 1000))[0]?.status, 'held');
        }
      }
    }
  });

  test('gives back the reservation and the lease', async (t) => {
    const { store, redis } = await storeFor(t);
    const lease = await running(store);
    await store.end(lease, { to: 'failed', reason: '' });
    assert.deepEqual((await store.reservations('local')).items, []);
    assert.equal(await redis.zcard(keys.leases), 0);
    assert.ok((await store.get(lease.experiment))?.endedAt);
  });

  test('goes on above the attempts that a cluster knows, and never below its own', async (t) => {
    const { store } = await storeFor(t, { server: await redisFor(t, { appendfsync: 'no' }) });
    const { id } = await store.submit(submitInput());
    await store.end(await claimed(store, id), { to: 'queued', reason: '', attemptsAbove: 6 });
    const next = await claimed(store, id);
    assert.equal(next.attempt, 7);
    await store.end(next, { to: 'queued', reason: '', attemptsAbove: 3 });
    assert.equal((await claimed(store, id)).attempt, 8);
  });

  test('leaves a cancel to be carried out where a higher attempt may still run', async (t) => {
    const { store } = await storeFor(t, { server: await redisFor(t, { appendfsync: 'no' }) });
    const lease = await running(store);
    await store.cancel(lease.experiment, 'test');
    assert.equal(await store.end(lease, { to: 'queued', reason: '', attemptsAbove: 6 }), 'cancelling');
    assert.equal((await store.renew([lease], 1000))[0]?.status, 'held');
    assert.equal(await store.end(lease, { to: 'cancelled', reason: '' }), 'cancelled');
  });
});

describe('leases', () => {
  test('are counted, those that nobody took over apart', async (t) => {
    const { store } = await storeFor(t, { server: await redisFor(t, { appendfsync: 'no' }) });
    assert.deepEqual(await store.leases(), { held: 0, expired: 0 });
    const [first] = [await running(store), await running(store)];
    assert.deepEqual(await store.leases(), { held: 2, expired: 0 });
    await store.release([first!]);
    assert.deepEqual(await store.leases(), { held: 1, expired: 1 });
  });
});

describe('cancel', () => {
  // Fails without the look at whether it is being cancelled.
  test('may be repeated, and is one event', async (t) => {
    const { store } = await storeFor(t);
    const { experiment } = await running(store);
    assert.equal(await store.cancel(experiment, 'first'), 'cancelling');
    const events = await store.read(experiment, undefined, 10);
    assert.equal(await store.cancel(experiment, 'second'), 'cancelling');
    assert.deepEqual(await store.read(experiment, undefined, 10), events);
    assert.equal((await store.get(experiment))?.reason, 'first');
  });
});

describe('confirm', () => {
  test('may be repeated, and leaves a cancelling experiment cancelling', async (t) => {
    const { store } = await storeFor(t);
    const { id } = await store.submit(submitInput());
    const lease = await claimed(store, id);
    assert.equal(await store.confirm(lease), 'running');
    const started = (await store.get(id))?.startedAt;
    assert.equal(await store.confirm(lease), 'running');
    assert.equal((await store.get(id))?.startedAt, started);
    assert.equal((await store.read(id, undefined, 10)).length, 3);

    const second = (await store.submit(submitInput())).id;
    const other = await claimed(store, second);
    await store.cancel(second, '');
    assert.equal(await store.confirm(other), 'cancelling');
    assert.ok((await store.attempts(second))[0]?.confirmedAt);
  });
});

describe('renew', () => {
  test('tells of each lease whether it is held, and the state', async (t) => {
    const { store } = await storeFor(t, { server: await redisFor(t, { appendfsync: 'no' }) });
    const leases: Lease[] = [];
    for (let n = 0; n < 230; n++) leases.push(await running(store));
    await store.cancel(leases[1]!.experiment, '');
    await store.end(leases[2]!, { to: 'failed', reason: '' });
    const renewals = await store.renew(leases, 60_000);
    assert.equal(renewals.length, leases.length);
    const expected = new Map<number, [string, State]>([
      [1, ['held', 'cancelling']],
      [2, ['lost', 'failed']],
    ]);
    renewals.forEach((renewal, at) => {
      assert.equal(renewal.lease, leases[at]);
      assert.deepEqual([renewal.status, renewal.state], expected.get(at) ?? ['held', 'running']);
      assert.ok(STATES.includes(renewal.state));
    });
    assert.deepEqual(await store.renew([], 1), []);
  });

  test('saves a lease that ran out but that nobody took', async (t) => {
    const { store, redis } = await storeFor(t);
    const lease = await running(store);
    await redis.zadd(keys.leases, 1, lease.experiment);
    assert.equal((await store.renew([lease], 60_000))[0]?.status, 'held');
    assert.deepEqual(await store.takeOver({ dispatcher: 'd', leaseMs: 1, limit: 5 }), []);
  });
});

describe('takeOver', () => {
  test('takes no more than it is asked to, and nothing twice', async (t) => {
    const { store } = await storeFor(t);
    const leases = [await running(store), await running(store), await running(store)];
    await store.release(leases);
    const take = () => store.takeOver({ dispatcher: 'd', leaseMs: 60_000, limit: 2 });
    const taken = [await take(), await take(), await take()];
    assert.deepEqual(
      taken.map((some) => some.length),
      [2, 1, 0],
    );
    assert.deepEqual(
      taken
        .flat()
        .map((one) => one.lease.experiment)
        .sort(),
      leases.map((lease) => lease.experiment).sort(),
    );
  });
});
