import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { advanceSweeps } from '../../../../src/dispatch/background/sweeps.ts';
import { QUIET, startBench, until } from '../../../support/dispatch.ts';
import { fakeArguments } from '../../../support/fake-driver.ts';
import { storeFor } from '../../../support/store.ts';
import { sweepInput, sweepRequest } from '../../../support/sweep.ts';

const NO_QUEUE = { enqueue: async () => {}, remove: async () => {} };

describe('the advance of sweeps', () => {
  test('submits all children of all sweeps and adds their jobs', async (t) => {
    const { store } = await storeFor(t);
    const enqueued: string[] = [];
    const enqueue = async (ids: readonly string[]) => void enqueued.push(...ids);
    for (const count of [150, 2]) await store.sweeps.create(sweepInput(sweepRequest(count)));
    await advanceSweeps({ store, queue: { ...NO_QUEUE, enqueue }, log: QUIET });
    assert.deepEqual(enqueued.toSorted(), (await store.queue.ids(1000)).toSorted());
    assert.equal(enqueued.length, 152);
    assert.deepEqual(await store.sweeps.withWork(10), []);
  });

  test('completes a cancel that another process began', async (t) => {
    const { store } = await storeFor(t);
    const { id } = await store.sweeps.create(sweepInput(sweepRequest(300)));
    await advanceSweeps({ store, queue: NO_QUEUE, log: QUIET });
    await store.sweeps.cancel(id, 'and then it died');
    const removed: string[] = [];
    const remove = async (ids: readonly string[]) => void removed.push(...ids);
    await advanceSweeps({ store, queue: { ...NO_QUEUE, remove }, log: QUIET });
    assert.equal(new Set(removed).size, 300);
    assert.equal((await store.sweeps.get(id))!.counts.cancelled, 300);
    assert.deepEqual(await store.sweeps.withWork(10), []);
  });

  test('continues although a sweep fails or the queue is away', async (t) => {
    const { store } = await storeFor(t);
    const bad = await store.sweeps.create(sweepInput(sweepRequest(1), { spec: { engine: 'none' } }));
    const good = await store.sweeps.create(sweepInput(sweepRequest(120)));
    const queue = { ...NO_QUEUE, enqueue: () => Promise.reject(new Error('away')) };
    await advanceSweeps({ store, queue, log: QUIET });
    assert.equal((await store.sweeps.get(good.id))!.expanded, 120);
    assert.deepEqual(await store.sweeps.withWork(10), [bad.id]);
  });

  test('stops between two steps', async (t) => {
    const { store } = await storeFor(t);
    const { id } = await store.sweeps.create(sweepInput(sweepRequest(300)));
    let asked = 0;
    await advanceSweeps({ store, queue: NO_QUEUE, log: QUIET, stopped: () => ++asked > 2 });
    assert.equal((await store.sweeps.get(id))!.expanded, 100);
  });
});

test('a dispatcher runs a sweep to its end', async () => {
  const bench = await startBench({ cpus: 64 });
  const plan = {
    engine: 'replay',
    module: 'fake',
    arguments: fakeArguments({ steps: 1 }),
    environment: {},
    gpus: 0,
    cpus: 1,
    gracePeriodMs: 500,
    files: {},
  };
  try {
    await bench.dispatcher({ compile: () => plan });
    const { id } = await bench.store.sweeps.create(sweepInput(sweepRequest(3)));
    const sweep = await until(async () => {
      const now = await bench.store.sweeps.get(id);
      return now?.state === 'done' ? now : undefined;
    }, 'every child has ended');
    assert.equal(sweep.counts.succeeded, 3);
  } finally {
    await bench.stop();
  }
});
