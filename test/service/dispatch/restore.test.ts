import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Redis } from 'ioredis';
import { createDispatcher } from '../../../src/dispatch/dispatcher.ts';
import { createRayWorkerClient } from '../../../src/rpc/client.ts';
import { writeRedisData } from '../../../src/store/backup/redis-files.ts';
import { takeSnapshot } from '../../../src/store/backup/snapshot.ts';
import {
  AGREEING,
  assertWholeStream,
  type Bench,
  compileTestSpec,
  connectTo,
  QUIET,
  startBench,
  TEST_TIMES,
  until,
} from '../../support/dispatch.ts';
import { pythonDriver, startPythonRayWorker } from '../../support/python-ray-worker.ts';
import { redisFor } from '../../support/redis.ts';

type Scope = { after(release: () => Promise<void>): void };

/** Releases in reverse order when the test is over. */
function reversed(t: Scope): Scope {
  const resources = new AsyncDisposableStack();
  t.after(() => resources.disposeAsync());
  return { after: (release) => void resources.defer(release) };
}

/** The bench's Redis as it is now, by the snapshot of `echelon backup create`. */
async function backup(bench: Bench): Promise<Buffer[]> {
  const redis = new Redis({ path: bench.server.socket, retryStrategy: () => null });
  redis.on('error', () => {});
  try {
    return await Array.fromAsync((await takeSnapshot(redis)).bytes);
  } finally {
    redis.disconnect();
  }
}

/** The real ray-worker, on a state directory of its own. */
async function rayWorkerFor(t: Scope) {
  const directory = await mkdtemp(join(tmpdir(), 'echelon-restore-'));
  const rayWorker = await startPythonRayWorker(directory);
  t.after(async () => {
    await rayWorker.stop();
    await rm(directory, { recursive: true, force: true });
  });
  return rayWorker;
}

/** A second fleet on the restored copy, beside the same ray-workers. */
async function restore(copy: Buffer[], bench: Bench, t: Scope) {
  const server = await redisFor(t, { config: { port: '0' } }); // only to make its directory
  await server.kill();
  await rm(join(server.dir, 'appendonlydir'), { recursive: true, force: true });
  await writeRedisData(server.dir, copy);
  await server.start();
  const connected = connectTo({ url: `unix://${server.socket}` }, join(bench.directory, 'archive'));
  t.after(() => connected.close());
  const dispatcher = createDispatcher({
    ...connected,
    verifier: AGREEING,
    compile: compileTestSpec,
    log: QUIET,
    id: 'restored',
    times: TEST_TIMES,
  });
  t.after(() => dispatcher.stop({ handOver: false }));
  return { ...connected, dispatcher };
}

describe('an old copy of the store beside live ray-workers', () => {
  test('an old copy of the store beside live ray-workers finds the running attempt and launches no second driver', async (context) => {
    const t = reversed(context);
    const bench = await startBench();
    t.after(() => bench.stop());
    const id = await bench.submit({ steps: 2, hang: true });
    const copy = await backup(bench); // queued, attempt 0
    const first = await bench.dispatcher();
    for (const attempt of [1, 2]) {
      await until(
        () => bench.rayWorker.running().some((line) => line.attempt === attempt),
        `attempt ${attempt}`,
      );
      bench.rayWorker.kill(id, attempt);
    }
    await until(() => bench.rayWorker.running().some((line) => line.attempt === 3), 'attempt 3 runs');
    await first.stop({ handOver: false });

    const { store, dispatcher } = await restore(copy, bench, t);
    assert.equal((await store.experiments.get(id))?.attempt, 0);
    await dispatcher.start();
    const record = await until(async () => {
      const now = await store.experiments.get(id);
      return now?.state === 'running' && now.attempt === 3 && now.progress.step === 2 ? now : undefined;
    }, 'the restored store follows the attempt that runs');
    assert.equal(record.attempt, 3);
    assert.deepEqual(bench.rayWorker.running(), [{ experiment: id, attempt: 3 }]);
    assert.equal(bench.rayWorker.launches().filter((line) => line.experiment === id).length, 3);
    assert.equal(bench.rayWorker.overlaps(), 0);
    await assertWholeStream(store, id, 3);

    await store.experiments.cancel(id, 'test');
    await until(async () => (await store.experiments.get(id))?.state === 'cancelled', 'cancelled');
    assert.deepEqual(bench.rayWorker.running(), []);
  });

  test('an old copy of the store beside a real ray-worker finds the higher attempt, follows and ends it', async (context) => {
    const t = reversed(context);
    const bench = await startBench();
    t.after(() => bench.stop());
    const rayWorker = await rayWorkerFor(t);
    const [fake] = await bench.store.clusters.list();
    const { address, token } = rayWorker;
    await bench.store.clusters.put({ ...fake!, name: 'real', address, token });
    const plan = { ...pythonDriver({ steps: 2, hang: true }), gracePeriodMs: 1000 };
    const id = await bench.submit({}, { cluster: 'real', plan });
    const copy = await backup(bench);

    // The other store's later life, as the ray-worker saw it: attempts 1 to 4, the last one runs.
    const client = createRayWorkerClient({ address, token, ca: null });
    t.after(async () => client.close());
    const full = { engine: 'replay', gpus: 0, cpus: 1, files: {}, ...plan };
    for (const attempt of [1, 4]) await client.launch(id, attempt, full);

    const { store, dispatcher } = await restore(copy, bench, t);
    await dispatcher.start();
    const record = await until(async () => {
      const now = await store.experiments.get(id);
      return now?.state === 'running' && now.progress.step === 2 ? now : undefined;
    }, 'it follows attempt 4');
    assert.equal(record.attempt, 4);
    const known = await client.list(id);
    assert.deepEqual(
      known.filter(({ running }) => running).map(({ attempt }) => attempt),
      [4],
    );
    await store.experiments.cancel(id, 'test');
    await until(async () => (await store.experiments.get(id))?.state === 'cancelled', 'cancelled');
    assert.ok((await client.list(id)).every(({ running }) => !running));
  });

  test('continues above a tombstone that its record does not know', async (context) => {
    const t = reversed(context);
    const bench = await startBench();
    t.after(() => bench.stop());
    const rayWorker = await rayWorkerFor(t);
    const [fake] = await bench.store.clusters.list();
    const { address, token } = rayWorker;
    await bench.store.clusters.put({ ...fake!, name: 'real', address, token });
    const id = await bench.submit({}, { cluster: 'real', plan: pythonDriver({ steps: 1 }) });
    const client = createRayWorkerClient({ address, token, ca: null });
    t.after(async () => client.close());
    await client.stop(id, 5, { gracePeriodMs: 0, reason: 'another store stopped it before its launch' });
    await bench.dispatcher();
    assert.equal((await bench.reaches(id, 'succeeded')).attempt, 6);
  });
});
