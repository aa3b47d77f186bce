import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type Bench, startBench, until } from '../../support/dispatch.ts';
import { ENDLESS } from '../../support/fake-driver.ts';

async function benchFor(t: TestContext, size: { cpus?: number; gpus?: number }): Promise<Bench> {
  const bench = await startBench(size);
  t.after(() => bench.stop());
  return bench;
}

const queuedOf = async (bench: Bench, id: string) =>
  (await bench.store.queue.first(100)).find(({ experiment }) => experiment === id);

describe('the queue', () => {
  test('the estimated start of the next experiment follows from the steps of the running one', async (t) => {
    const bench = await benchFor(t, { cpus: 1 });
    await bench.dispatcher();
    const first = await bench.submit({ steps: 1_000, delayMs: 50 });
    await bench.reaches(first, 'running');
    const second = await bench.submit({ steps: 1 });
    const waiting = await until(async () => {
      const now = await queuedOf(bench, second);
      return now?.estimate && now.reason !== null ? now : undefined;
    }, 'there is an estimate');
    const { startAt, earliest, latest } = waiting.estimate!;
    assert.ok(earliest <= startAt && startAt <= latest && latest > Date.now());
    assert.match(waiting.reason ?? '', /^needs 1 CPU on one node; .* has 1 CPU free in /);
    await bench.store.experiments.cancel(first, '');
    await bench.reaches(second, 'succeeded');
  });

  test('nothing starts while it is paused', async (t) => {
    const bench = await benchFor(t, {});
    await bench.dispatcher();
    await bench.store.queue.setPaused({ kind: 'all' }, { by: 'ann', at: 1, reason: 'upgrade' });
    const id = await bench.submit({ steps: 1 });
    const isPaused = async () =>
      (await queuedOf(bench, id))?.reason === 'the queue is paused by ann: upgrade';
    await until(isPaused, 'it says why');
    await bench.store.queue.setPaused({ kind: 'all' }, null);
    await bench.reaches(id, 'succeeded');
  });

  test('a higher priority starts first, also if it was raised while queued', async (t) => {
    const bench = await benchFor(t, { cpus: 1 });
    await bench.dispatcher();
    const blocker = await bench.submit({ hang: true });
    await bench.reaches(blocker, 'running');
    const first = await bench.submit({ steps: 1 });
    const second = await bench.submit({ steps: 1 });
    assert.equal(await bench.store.queue.setPriority(second, 9), 'changed');
    await bench.store.experiments.cancel(blocker, '');
    await bench.reaches(first, 'succeeded');
    const [one, other] = await Promise.all([
      bench.store.experiments.get(first),
      bench.store.experiments.get(second),
    ]);
    assert.ok(other!.startedAt! <= one!.startedAt!, 'the second started first');
    assert.equal(other!.state, 'succeeded');
  });

  test('two dispatchers together keep the quota of a project', async (t) => {
    const bench = await benchFor(t, { cpus: 64, gpus: 8 });
    await bench.store.projects.change('default', { gpuQuota: 2 });
    await Promise.all([bench.dispatcher(), bench.dispatcher()]);
    const ids = await Promise.all(
      Array.from({ length: 8 }, () => bench.submit({ steps: ENDLESS, delayMs: 20 }, { gpus: 1 })),
    );
    let most = 0;
    await until(async () => {
      const { items } = await bench.store.clusters.allocations('fake');
      const held = items.reduce((sum, { gpus }) => sum + gpus, 0);
      most = Math.max(most, held);
      // Only a pair ends, so that there is room for two again and again.
      const running = bench.rayWorker.running();
      if (running.length === 2) for (const { experiment } of running) bench.rayWorker.finish(experiment);
      const records = await Promise.all(ids.map((id) => bench.store.experiments.get(id)));
      return records.every((record) => record?.state === 'succeeded');
    }, 'all are over');
    assert.equal(most, 2);
  });
});
