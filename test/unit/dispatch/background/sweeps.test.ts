import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { advanceSweeps } from '../../../../src/dispatch/background/sweeps.ts';
import { QUIET, startBench, until } from '../../../support/dispatch.ts';
import { fakeArguments } from '../../../support/fake-driver.ts';
import { storeFor } from '../../../support/store.ts';
import { sweepInput, sweepRequest } from '../../../support/sweep.ts';

const NO_LINE = { join: async () => {} };

describe('the advance of sweeps', () => {
  test('makes all children of all sweeps, and gives each its job', async (t) => {
    const { store } = await storeFor(t);
    const joined: string[] = [];
    const line = { join: async (experiment: string) => void joined.push(experiment) };
    for (const count of [150, 2]) await store.createSweep(sweepInput(sweepRequest(count)));
    await advanceSweeps({ store, line, log: QUIET });
    assert.deepEqual(joined.toSorted(), (await store.waitingIds(1000)).toSorted());
    assert.equal(joined.length, 152);
    assert.deepEqual(await store.sweepsWithWork(10), []);
  });

  test('finishes a cancel that was begun', async (t) => {
    const { store } = await storeFor(t);
    const { id } = await store.createSweep(sweepInput(sweepRequest(300)));
    await advanceSweeps({ store, line: NO_LINE, log: QUIET });
    await store.cancelSweep(id, 'and then it died');
    await advanceSweeps({ store, line: NO_LINE, log: QUIET });
    assert.equal((await store.sweep(id))!.counts.cancelled, 300);
    assert.deepEqual(await store.sweepsWithWork(10), []);
  });

  test('is stopped by neither a sweep that fails nor a line that is away', async (t) => {
    const { store } = await storeFor(t);
    const bad = await store.createSweep(sweepInput(sweepRequest(1), { spec: { engine: 'none' } }));
    const good = await store.createSweep(sweepInput(sweepRequest(120)));
    const line = { join: () => Promise.reject(new Error('away')) };
    await advanceSweeps({ store, line, log: QUIET });
    assert.equal((await store.sweep(good.id))!.expanded, 120);
    assert.deepEqual(await store.sweepsWithWork(10), [bad.id]);
  });

  test('stops between two steps', async (t) => {
    const { store } = await storeFor(t);
    const { id } = await store.createSweep(sweepInput(sweepRequest(300)));
    let asked = 0;
    await advanceSweeps({ store, line: NO_LINE, log: QUIET, stopped: () => ++asked > 2 });
    assert.equal((await store.sweep(id))!.expanded, 100);
  });
});

test('a dispatcher runs a sweep to its end', async () => {
  const bench = await startBench({ cpus: 64 });
  const plan = {
    ...{ engine: 'replay', module: 'fake', arguments: fakeArguments({ steps: 1 }), environment: {} },
    ...{ gpus: 0, cpus: 1, gracePeriodMs: 500, files: {} },
  };
  try {
    await bench.dispatcher({ compile: () => plan });
    const { id } = await bench.store.createSweep(sweepInput(sweepRequest(3)));
    const sweep = await until(async () => {
      const now = await bench.store.sweep(id);
      return now?.state === 'done' ? now : undefined;
    }, 'every child has ended');
    assert.equal(sweep.counts.succeeded, 3);
  } finally {
    await bench.stop();
  }
});
