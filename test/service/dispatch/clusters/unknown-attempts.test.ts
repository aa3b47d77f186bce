import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { AttemptName } from '../../../../src/core/ids.ts';
import type { LaunchPlan } from '../../../../src/core/launch-plan.ts';
import { createUnknownAttempts } from '../../../../src/dispatch/clusters/unknown-attempts.ts';
import { createRayWorkerClient } from '../../../../src/rpc/client.ts';
import type { RayWorkerClient } from '../../../../src/rpc/ray-worker.ts';
import { type Bench, QUIET, startBench, until } from '../../../support/dispatch.ts';
import { fakeArguments } from '../../../support/fake-driver.ts';

const PLAN: LaunchPlan = {
  engine: 'replay',
  module: 'fake',
  environment: {},
  gracePeriodMs: 500,
  files: {},
  arguments: fakeArguments({ hang: true }),
  gpus: 0,
  cpus: 1,
};

describe('attempts on a cluster that the store does not know', () => {
  let bench: Bench;
  let client: RayWorkerClient;
  before(async () => {
    bench = await startBench();
    const { address, token } = bench.rayWorker;
    client = createRayWorkerClient({ address, token, ca: null });
  });
  after(async () => {
    client.close();
    await bench.stop();
  });
  const shown = async () => (await bench.store.clusters.list(['fake']))[0]?.unknownAttempts ?? [];
  const check = (by = client) =>
    createUnknownAttempts({ store: bench.store, elapsed: () => 0, log: QUIET }).on('fake', by, {
      recheck: false,
    });
  const stop = ({ experiment, attempt }: AttemptName) =>
    client.stop(experiment, attempt, { gracePeriodMs: 0, reason: 'test' });
  const record = (fields: Record<string, string | number>) =>
    bench.redis.hset('{echelon}:x:exp-made', fields);

  test('attempts on a cluster that the store does not know are shown at their cluster and continue; known attempts are not shown', async () => {
    const dispatcher = await bench.dispatcher({ times: { checkMs: 50 } });
    const known = await bench.submit({ hang: true });
    await bench.reaches(known, 'running');
    const lost = { experiment: 'exp-lost', attempt: 3 };
    await client.launch(lost.experiment, lost.attempt, PLAN);
    await until(async () => (await shown()).length > 0, 'it is shown');
    assert.deepEqual(await shown(), [lost]);
    assert.deepEqual(bench.rayWorker.running(), [{ experiment: known, attempt: 1 }, lost]);
    await stop(lost);
    await until(async () => (await shown()).length === 0, 'nothing is shown any more');
    await bench.store.experiments.cancel(known, 'test');
    await bench.reaches(known, 'cancelled');
    await dispatcher.stop({ handOver: true });
  });

  test('include those of an experiment with another attempt, on another cluster, or that has ended', async () => {
    const made = { experiment: 'exp-made', attempt: 2 };
    await client.launch(made.experiment, made.attempt, PLAN);
    await record({ id: 'exp-made', state: 'running', attempt: 2, cluster: 'fake' });
    assert.deepEqual(await check(), []);
    for (const change of [{ attempt: 1 }, { attempt: 3 }, { cluster: 'other' }, { state: 'succeeded' }]) {
      await record({ state: 'running', attempt: 2, cluster: 'fake', ...change });
      assert.deepEqual(await check(), [made], JSON.stringify(change));
    }
    await stop(made);
    assert.deepEqual(await check(), []);
  });

  test('attempts on a cluster that the store does not know do not include one whose launch is not yet confirmed', async () => {
    bench.rayWorker.launchFault = 'never-answer';
    const dispatcher = await bench.dispatcher({ times: { checkMs: 50 } });
    const id = await bench.submit({ hang: true });
    await until(() => bench.rayWorker.running().length === 1, 'it runs');
    assert.equal((await bench.store.experiments.get(id))?.state, 'launching');
    assert.deepEqual(await check(), []);
    bench.rayWorker.launchFault = 'none';
    await bench.store.experiments.cancel(id, 'test');
    await dispatcher.stop({ handOver: true });
    await stop({ experiment: id, attempt: 1 });
  });

  test('attempts on a cluster that the store does not know do not include one that ends between the list and the look into the store', async () => {
    const ending = { experiment: 'exp-ending', attempt: 1 };
    await client.launch(ending.experiment, ending.attempt, PLAN);
    const list = async () => {
      const listed = await client.list();
      await stop(ending);
      return listed;
    };
    assert.deepEqual(await check({ ...client, list }), []);
  });

  test('attempts on a cluster that the store does not know are logged once per change, and searched every 30 s or at a recheck', async () => {
    const logged: unknown[] = [];
    let now = 0;
    const log = { ...QUIET, warn: ({ unknown }: { unknown?: unknown }) => void logged.push(unknown) };
    const attempts = createUnknownAttempts({ store: bench.store, elapsed: () => now, log });
    const on = (recheck = false) => attempts.on('fake', client, { recheck });
    assert.deepEqual(await on(), []);
    const lost = { experiment: 'exp-late', attempt: 1 };
    await client.launch(lost.experiment, lost.attempt, PLAN);
    now = 29_999;
    assert.deepEqual(await on(), []);
    assert.deepEqual(await on(true), [lost]);
    now += 30_000;
    assert.deepEqual(await on(), [lost]);
    await stop(lost);
    now += 30_000;
    assert.deepEqual(await on(), []);
    assert.deepEqual(logged, [[lost], []]);
  });
});
