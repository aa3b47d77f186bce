import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Served } from '../../../src/queue/serve.ts';
import { createRayWorkerClient } from '../../../src/rpc/client.ts';
import type { Lease } from '../../../src/store/attempts/types.ts';
import { type Bench, startBench, type TestSpec, until } from '../../support/dispatch.ts';

const LEASE_MS = 500;

/*
 * A start has these steps: submit, add the job, allocate, release the job, receive it, acquire the lease, launch,
 * complete the job. Each test does the first ones, as a process that then dies, and lets a dispatcher find the rest.
 */
describe('a process that dies between two steps of a start', () => {
  let bench: Bench;
  let release: (() => Promise<void>) | undefined;
  before(async () => {
    bench = await startBench();
  });
  afterEach(async () => {
    await release?.();
    release = undefined;
  });
  after(() => bench.stop());

  /** Jobs by their state on the board. */
  async function board(): Promise<Record<string, number>> {
    const counts = Object.entries(await bench.queue.counts());
    return Object.fromEntries(counts.filter(([, count]) => count > 0));
  }

  const launchesOf = (id: string) => bench.rayWorker.launches().filter((one) => one.experiment === id);

  async function allocate(id: string): Promise<void> {
    const { version } = await bench.store.clusters.allocations('fake');
    const start = {
      experiment: id,
      cluster: 'fake',
      nodes: [{ id: 'n', gpus: 0, cpus: 1 }],
      project: 'default',
    };
    assert.deepEqual(await bench.store.attempts.allocate([{ ...start, allocationVersion: version }]), [
      'allocated',
    ]);
  }

  async function acquire(id: string): Promise<Lease> {
    const acquired = await bench.store.attempts.acquire({
      experiment: id,
      dispatcher: 'dead',
      leaseMs: LEASE_MS,
      token: randomUUID(),
    });
    assert.ok(acquired.outcome === 'acquired');
    return acquired.lease;
  }

  /** Receives the job as a dispatcher that does `steps` and dies, with the job in its hands. */
  async function receive(id: string, steps: () => Promise<void> = async () => {}): Promise<void> {
    const received = Promise.withResolvers<void>();
    const dying = bench.queue.serve(
      async (experiment) => {
        assert.equal(experiment, id);
        await steps().then(received.resolve, received.reject);
        return await new Promise<Served>(() => {});
      },
      { concurrency: 1, lockMs: LEASE_MS },
    );
    await received.promise;
    await dying.close(0);
    assert.deepEqual(await board(), { active: 1 });
  }

  /** A dispatcher finds what was left: the experiment runs once, as `attempt`, and no job stays. */
  async function succeeds(id: string, attempt = 1): Promise<void> {
    const dispatcher = await bench.dispatcher({ times: { leaseMs: 1_000 } });
    release = () => dispatcher.stop({ handOver: false });
    const record = await bench.reaches(id, 'succeeded');
    assert.equal(record.attempt, attempt);
    assert.deepEqual(launchesOf(id), [{ experiment: id, attempt }]);
    await until(async () => Object.keys(await board()).length === 0, 'no job stays', { instead: board });
    assert.deepEqual(await bench.store.attempts.allocated({ olderThanMs: 0, limit: 10 }), []);
    assert.deepEqual((await bench.store.clusters.allocations('fake')).items, []);
  }

  test('a process that dies after the submission: it gets its job', async () => {
    const id = await bench.submit({ steps: 2 }, { enqueue: false });
    assert.deepEqual(await board(), {});
    await succeeds(id);
  });

  test('a process that dies after the allocation: its job is released', async () => {
    const id = await bench.submit({ steps: 2 });
    await allocate(id);
    assert.deepEqual(await board(), { delayed: 1 });
    await succeeds(id);
  });

  test('a process that dies after the allocation, without a job: it gets a released one', async () => {
    const id = await bench.submit({ steps: 2 }, { enqueue: false });
    await allocate(id);
    assert.deepEqual(await board(), {});
    await succeeds(id);
  });

  test('a process that dies after the release: another dispatcher receives the job', async () => {
    const id = await bench.submit({ steps: 2 });
    await allocate(id);
    await bench.queue.release(id);
    assert.deepEqual(await board(), { waiting: 1 });
    await succeeds(id);
  });

  test('a process that dies after the receipt: another dispatcher receives the job again', async () => {
    const id = await bench.submit({ steps: 2 });
    await allocate(id);
    await bench.queue.release(id);
    await receive(id);
    await succeeds(id);
  });

  test('a process that dies after the acquisition: the attempt is taken over, and launched under its number', async () => {
    const id = await bench.submit({ steps: 2 });
    await allocate(id);
    await bench.queue.release(id);
    await receive(id, async () => void (await acquire(id)));
    await succeeds(id);
  });

  test('a process that dies after the launch: the attempt is taken over, and its job completed', async () => {
    const id = await bench.submit({ steps: 20, delayMs: 20 });
    await allocate(id);
    await bench.queue.release(id);
    await receive(id, async () => {
      const lease = await acquire(id);
      const { address, token } = bench.rayWorker;
      const client = createRayWorkerClient({ address, token, ca: null });
      const { plan } = (await bench.store.experiments.get(id))!.resolved as TestSpec;
      await client.launch(id, 1, plan);
      client.close();
      await bench.store.attempts.confirm(lease);
    });
    await succeeds(id);
  });

  test('a process that dies after an end with a retry: it gets the job of its next attempt', async () => {
    const id = await bench.submit({ steps: 2 }, { enqueue: false });
    await allocate(id);
    await bench.store.attempts.end(await acquire(id), { to: 'queued', reason: 'a retry' });
    assert.deepEqual(await board(), {});
    await succeeds(id, 2);
  });

  // Fails if the job of a queued experiment is completed: nothing would be left on the board until the reconciler's turn.
  test('a release of a queued experiment puts its job back', async () => {
    const id = await bench.submit({ steps: 2 }, { cpus: 99 });
    await bench.queue.release(id);
    const dispatcher = await bench.dispatcher();
    release = () => dispatcher.stop({ handOver: false });
    const isDelayed = async () => isDeepStrictEqual(await board(), { delayed: 1 });
    await until(isDelayed, 'it is delayed again', { instead: board });
    assert.deepEqual(launchesOf(id), []);
    await bench.store.experiments.cancel(id, 'test');
    await bench.queue.remove([id]);
  });

  test('a cancelled experiment whose job survives is not launched, and the job is completed', async () => {
    const id = await bench.submit({ steps: 2 });
    await allocate(id);
    await bench.queue.release(id);
    assert.equal(await bench.store.experiments.cancel(id, 'test'), 'cancelled');
    assert.deepEqual((await bench.store.clusters.allocations('fake')).items, []);
    const dispatcher = await bench.dispatcher();
    release = () => dispatcher.stop({ handOver: false });
    await until(async () => Object.keys(await board()).length === 0, 'no job stays', { instead: board });
    assert.deepEqual([launchesOf(id), (await bench.store.experiments.get(id))!.state], [[], 'cancelled']);
  });
});
