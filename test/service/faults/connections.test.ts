import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { createRayWorkerClient } from '../../../src/rpc/client.ts';
import { assertWholeStream, type Bench, startBench, until } from '../../support/dispatch.ts';
import { ENDLESS } from '../../support/fake-driver.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';

const lastSequence = async (bench: Bench, id: string) =>
  (await bench.store.attempts.list(id)).at(-1)?.lastSequence ?? 0;

describe('connections that break', () => {
  let bench: Bench;
  let proxy: TcpProxy;
  before(async () => {
    bench = await startBench();
    await bench.dispatcher({
      connect: (cluster) => createRayWorkerClient({ ...cluster, keepalive: { timeMs: 200, timeoutMs: 200 } }),
    });
  });
  afterEach(() => proxy?.stop());
  after(() => bench.stop());

  const records = async (id: string, events: number) => {
    const at = await lastSequence(bench, id);
    await until(async () => (await lastSequence(bench, id)) >= at + events, `${events} events are recorded`);
  };

  async function endsWhole(id: string): Promise<void> {
    bench.rayWorker.finish(id);
    await bench.reaches(id, 'succeeded');
    assert.equal(await assertWholeStream(bench.store, id, 1), bench.rayWorker.sent(id, 1));
  }

  async function throughProxy(): Promise<void> {
    proxy = await startTcpProxy(bench.rayWorker.address);
    const [cluster] = await bench.store.clusters.list();
    assert.ok(cluster);
    await bench.store.clusters.put({ ...cluster, address: proxy.address });
  }

  // Without keepalive the stream stays silent and the experiment never ends.
  test('a half-open connection to the ray-worker is noticed and resumed without a lost event', async () => {
    await throughProxy();
    const id = await bench.submit({ steps: ENDLESS, delayMs: 20 });
    await records(id, 20);
    proxy.freeze();
    const at = bench.rayWorker.sent(id, 1);
    await until(async () => (await lastSequence(bench, id)) > at, 'more than was under way is recorded');
    await endsWhole(id);
    assert.equal(bench.rayWorker.launches().filter((line) => line.experiment === id).length, 1);
  });

  test('a connection that is reset repeatedly loses and duplicates no event', async () => {
    await throughProxy();
    const id = await bench.submit({ steps: ENDLESS, delayMs: 10, batchBytes: 20_000 });
    for (let resets = 0; resets < 8; resets += 1) {
      await records(id, 1);
      proxy.reset();
    }
    await endsWhole(id);
  });

  test('an unreachable ray-worker: the state stays, and the attempt continues when it is back', async () => {
    await throughProxy();
    const id = await bench.submit({ steps: ENDLESS, delayMs: 20 });
    await records(id, 20);
    await bench.rayWorker.down();
    const waiting = await bench.submit({});
    await until(
      async () =>
        (await bench.store.queue.first(10)).find((w) => w.experiment === waiting)?.reason ??
        (await bench.store.experiments.get(waiting))?.state === 'launching',
      'the other one waits for it',
    );
    assert.equal((await bench.store.experiments.get(id))?.state, 'running');
    await bench.rayWorker.up();
    await bench.reaches(waiting, 'succeeded');
    await endsWhole(id);
  });

  // A cancel must reach an attempt whose launch hangs; its tombstone or stop is what ends it.
  test('a launch that is never answered can be cancelled', async () => {
    await throughProxy();
    bench.rayWorker.launchFault = 'never-answer';
    const id = await bench.submit({ hang: true });
    await until(
      () => bench.rayWorker.launches().some((line) => line.experiment === id),
      'the launch had its effect',
    );
    await bench.store.experiments.cancel(id, 'test');
    await bench.reaches(id, 'cancelled');
    bench.rayWorker.launchFault = 'none';
    assert.ok(!bench.rayWorker.running().some((line) => line.experiment === id));
  });
});

describe('Redis', () => {
  let bench: Bench;
  before(async () => {
    bench = await startBench();
    await bench.dispatcher();
  });
  after(() => bench.stop());

  test('killed and restarted under load: every experiment ends, and no event is lost or duplicated', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 6; index += 1)
      ids.push(await bench.submit({ steps: ENDLESS, delayMs: 20, batchBytes: 1_000 }));
    for (let kills = 0; kills < 2; kills += 1) {
      const first = ids[0] ?? '';
      const at = await lastSequence(bench, first);
      await until(async () => (await lastSequence(bench, first)) > at + 20, 'events are recorded');
      await bench.server.restart('SIGKILL');
      await until(() => bench.redis.ping().catch(() => undefined), 'Redis is back');
    }
    // The ray-worker can only finish what it has launched.
    for (const id of ids) await bench.reaches(id, 'running');
    for (const id of ids) bench.rayWorker.finish(id);
    for (const id of ids) {
      const record = await until(async () => {
        const now = await bench.store.experiments.get(id).catch(() => undefined);
        return now?.state === 'succeeded' ? now : undefined;
      }, 'it ends');
      assert.equal(record.attempt, 1);
      assert.equal(await assertWholeStream(bench.store, id, 1), bench.rayWorker.sent(id, 1));
    }
    assert.equal(bench.rayWorker.launches().length, ids.length);
    const late = await bench.submit({});
    await bench.reaches(late, 'succeeded');
  });
});
