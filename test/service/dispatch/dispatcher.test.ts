import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Bench, startBench, until } from '../../support/dispatch.ts';

describe('createDispatcher', () => {
  let bench: Bench;
  before(async () => {
    bench = await startBench();
  });
  after(() => bench.stop());

  test('counts its attempts, renews their leases, and drops lost ones', async () => {
    const dispatcher = await bench.dispatcher();
    const id = await bench.submit({ hang: true });
    await bench.reaches(id, 'running');
    assert.deepEqual(dispatcher.stats(), { attempts: 1, verifying: 0, commands: 0, cutOff: 0 });
    const expiry = async () => Number(await bench.redis.zscore('{echelon}:leases', id));
    const first = await expiry();
    await until(async () => (await expiry()) > first, 'the lease is renewed');
    // The token of another dispatcher, as after a takeover.
    await bench.redis.hset(`{echelon}:x:${id}`, 'token', 'another');
    await until(() => dispatcher.stats().attempts === 0, 'it lets go');
    assert.equal((await bench.store.experiments.get(id))?.state, 'running');
    // The other never renews: the lease runs out, and the attempt is taken over and kept.
    await until(() => dispatcher.stats().attempts === 1, 'it takes over');
    assert.equal((await bench.store.experiments.get(id))?.attempt, 1);
    await bench.store.experiments.cancel(id, 'test');
    await bench.reaches(id, 'cancelled');
    await dispatcher.stop({ handOver: true });
  });

  test('releases its leases when it stops, and acquires no more', async () => {
    const dispatcher = await bench.dispatcher({ times: { leaseMs: 60_000 } });
    const id = await bench.submit({ hang: true });
    await bench.reaches(id, 'running');
    await dispatcher.stop({ handOver: true });
    assert.equal(Number(await bench.redis.zscore('{echelon}:leases', id)), 0);
    const late = await bench.submit({});
    const next = await bench.dispatcher();
    await until(() => next.stats().attempts > 0, 'the next one takes over');
    await bench.reaches(late, 'succeeded');
    await bench.store.experiments.cancel(id, 'test');
    await bench.reaches(id, 'cancelled');
    assert.equal(bench.rayWorker.launches().filter((line) => line.experiment === id).length, 1);
  });
});
