import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createRayWorkerClient } from '../../../src/rpc/client.ts';
import {
  assertWholeStream,
  type Bench,
  runsAs,
  startBench,
  TEST_TIMES,
  until,
} from '../../support/dispatch.ts';
import { ENDLESS } from '../../support/fake-driver.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';

describe('a dispatcher that is cut off from one ray-worker', () => {
  let bench: Bench;
  let proxy: TcpProxy;
  before(async () => {
    bench = await startBench();
    proxy = await startTcpProxy(bench.rayWorker.address);
  });
  after(async () => {
    await proxy.stop();
    await bench.stop();
  });

  const holder = (id: string) => bench.redis.hget(`{echelon}:x:${id}`, 'dispatcher');
  const recorded = async (id: string) => (await bench.store.attempts.list(id)).at(-1)?.lastSequence ?? 0;

  /* Fails if renewal alone keeps a lease: its attempt is then never followed, and can be neither cancelled nor ended. */
  test('a dispatcher that is cut off from one ray-worker keeps its leases while no dispatcher reaches it, and then leaves them to one that does', async () => {
    const cut = await bench.dispatcher({
      id: 'cut',
      connect: (cluster) => createRayWorkerClient({ ...cluster, address: proxy.address }),
    });
    const followed = await bench.submit({ steps: ENDLESS, delayMs: 20 });
    const cancelled = await bench.submit({ hang: true });
    for (const id of [followed, cancelled]) await bench.comes(id, 'runs', runsAs(1));
    proxy.cut();
    assert.equal(await bench.store.experiments.cancel(cancelled, 'test'), 'cancelling');
    const cutAt = performance.now();
    const stays = () => performance.now() - cutAt > 2 * (TEST_TIMES.cutOffMs + TEST_TIMES.leaseMs / 3);
    await until(stays, 'it would have given the leases up');
    assert.deepEqual(
      [await holder(followed), cut.stats()],
      ['cut', { ...cut.stats(), attempts: 2, cutOff: 0 }],
    );

    await bench.dispatcher({ id: 'whole' });
    await bench.reaches(cancelled, 'cancelled');
    await until(async () => (await holder(followed)) === 'whole', 'it is followed by the other one');
    assert.equal(cut.stats().cutOff, 1);
    const before = await recorded(followed);
    await until(async () => (await recorded(followed)) > before, 'its events are recorded');
    // The dispatcher that is cut off receives jobs as well.
    const later = await Promise.all(Array.from({ length: 4 }, () => bench.submit({ steps: 2 })));
    for (const id of later) await bench.reaches(id, 'succeeded');
    assert.equal(cut.stats().attempts, 0);

    proxy.heal();
    await until(() => cut.stats().cutOff === 0, 'it reaches the ray-worker again');
    bench.rayWorker.finish(followed);
    await bench.reaches(followed, 'succeeded');
    await assertWholeStream(bench.store, followed, 1);
    assert.equal(bench.rayWorker.launches().length, 6);
    assert.equal(await holder(followed), null);
  });
});
