import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { Redis } from 'ioredis';
import { createExperimentsQueue, type ExperimentsQueue } from '../../../src/queue/experiments-queue.ts';
import { until } from '../../support/dispatch.ts';
import { type RedisServer, startRedis } from '../../support/redis.ts';

type State = 'queued' | 'allocated';

describe('the experiments queue', () => {
  let server: RedisServer;
  let redis: Redis;
  let queue: ExperimentsQueue;
  /** What the store says of each experiment. */
  let states: Map<string, State>;
  /** Called between a change of a job and the reading of the states. */
  let inBetween: () => Promise<void>;
  before(async () => {
    server = await startRedis({ appendfsync: 'no' });
    redis = new Redis(server.url, { maxRetriesPerRequest: 1 });
  });
  beforeEach(async (t) => {
    await redis.flushall();
    states = new Map();
    inBetween = async () => {};
    queue = createExperimentsQueue({
      redis,
      prefix: '{test}',
      onError: (error: Error) => assert.fail(error),
      async statesOf(ids) {
        await inBetween();
        return new Map(ids.flatMap((id) => (states.has(id) ? [[id, states.get(id)!]] : [])));
      },
    });
    const opened = queue;
    (t as { after(release: () => Promise<void>): void }).after(() => opened.close());
  });
  after(async () => {
    redis.disconnect();
    await server.stop();
  });

  async function enqueue(...ids: string[]): Promise<void> {
    for (const id of ids) states.set(id, 'queued');
    await queue.enqueue(ids);
  }

  const stateOf = async (id: string) => (await queue.queues[0]!.getJob(id))?.getState();
  const jobs = async () => {
    const counts = await queue.counts();
    return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
  };

  test("the experiments queue has one delayed job per experiment, with the experiment's id and no data", async () => {
    await enqueue('exp-a');
    await enqueue('exp-a', 'exp-b');
    assert.deepEqual(await jobs(), { delayed: 2 });
    const job = await queue.queues[0]?.getJob('exp-a');
    assert.deepEqual([job?.data, job?.priority], [{}, 0]);
    for (const key of await redis.keys('*')) assert.ok(key.startsWith('{test}:bull:'), key);
  });

  // Fails if a later BullMQ stores delayed jobs in another way than the script that adds them.
  test('an added job is stored like a job that BullMQ adds, in the short encoding of Redis', async () => {
    await enqueue('exp-a');
    const [own, theirs] = ['{test}:bull:experiments:exp-a', '{test}:bull:experiments:exp-b'];
    const [{ timestamp = '', delay = '', ...fields }, marker] = await Promise.all([
      redis.hgetall(own),
      redis.zscore('{test}:bull:experiments:marker', '1'),
    ]);
    assert.equal(await redis.object('ENCODING', own), 'listpack');
    const options = { jobId: 'exp-b', delay: Number(delay), timestamp: Number(timestamp) };
    await queue.queues[0]?.add('experiment', {}, { ...options, removeOnComplete: true, removeOnFail: true });

    const { opts, ...expected } = await redis.hgetall(theirs);
    const { removeOnComplete, removeOnFail } = JSON.parse(opts ?? '');
    const kept = { removeOnComplete, removeOnFail };
    assert.deepEqual(
      { ...fields, timestamp, delay, opts: JSON.parse(fields.opts ?? '') },
      { ...expected, opts: kept },
    );
    const score = async (id: string) => Number(await redis.zscore('{test}:bull:experiments:delayed', id));
    assert.equal(Math.floor((await score('exp-b')) / 4096), (await score('exp-a')) / 4096);
    assert.equal(Number(marker), Number(timestamp) + Number(delay));
    assert.equal(await redis.zscore('{test}:bull:experiments:marker', '1'), marker);
  });

  test('a released job is received; one that was not released is not', async () => {
    await enqueue('exp-a', 'exp-b', 'exp-c');
    const seen: string[] = [];
    const serving = queue.serve(
      async (experiment) => {
        seen.push(experiment);
        states.delete(experiment);
        return 'complete';
      },
      { concurrency: 1, lockMs: 5_000 },
    );
    for (const id of ['exp-c', 'exp-a']) {
      states.set(id, 'allocated');
      await queue.release(id);
    }
    await until(() => seen.length === 2, 'both are received');
    await serving.close(1_000);
    assert.deepEqual([seen, await jobs()], [['exp-c', 'exp-a'], { delayed: 1 }]);
  });

  test('a release without a job adds it, and a release that is repeated changes nothing', async () => {
    states.set('exp-a', 'allocated');
    for (let times = 0; times < 3; times += 1) await queue.release('exp-a');
    assert.deepEqual(await jobs(), { waiting: 1 });
  });

  // Fails if nothing is read after the job was added: the job of a running experiment would stay on the board for a day.
  test('a job that is added after its experiment left the queue is removed', async () => {
    states.set('exp-a', 'queued');
    inBetween = async () => void states.delete('exp-a');
    await queue.enqueue(['exp-a', 'exp-b']);
    assert.deepEqual(await jobs(), {});
  });

  test('a job that is added after its release is released', async () => {
    states.set('exp-a', 'queued');
    inBetween = async () => void states.set('exp-a', 'allocated');
    await queue.enqueue(['exp-a']);
    assert.deepEqual(await jobs(), { waiting: 1 });
  });

  test('restores the jobs of experiments that have none, and names them', async () => {
    const ids = Array.from({ length: 7 }, (_, at) => `exp-${at}`);
    await enqueue(...ids);
    await queue.release('exp-3');
    for (const id of ['exp-x', 'exp-y']) states.set(id, 'queued');
    assert.deepEqual(await queue.restore(['exp-x', 'exp-3', 'exp-y', 'exp-4']), ['exp-x', 'exp-y']);
    assert.deepEqual(await queue.restore([]), []);
  });

  test('removes jobs, except an active one', async () => {
    await enqueue('exp-a', 'exp-b');
    const release = Promise.withResolvers<void>();
    const serving = queue.serve(
      async () => {
        await release.promise;
        return 'complete';
      },
      { concurrency: 1, lockMs: 5_000 },
    );
    await queue.release('exp-a');
    await until(async () => (await stateOf('exp-a')) === 'active', 'it is active');
    states.clear();
    await queue.remove(['exp-a', 'exp-b', 'exp-none']);
    assert.deepEqual(await jobs(), { active: 1 });
    release.resolve();
    await until(async () => Object.keys(await jobs()).length === 0, 'it is completed');
    await serving.close(1_000);
  });

  // Fails without the reading after a completion: a retry would wait for the reconciler.
  test('an experiment that is queued again while its job is active gets a job afterwards', async () => {
    await enqueue('exp-a');
    const serving = queue.serve(
      async (experiment) => {
        await enqueue(experiment); // its job is active: this one is refused
        return 'complete';
      },
      { concurrency: 1, lockMs: 5_000 },
    );
    await queue.release('exp-a');
    await until(async () => (await stateOf('exp-a')) === 'delayed', 'it is queued again');
    await serving.close(1_000);
    assert.deepEqual(await jobs(), { delayed: 1 });
  });

  test('an experiment that is allocated again while its job is delayed is received again', async () => {
    await enqueue('exp-a');
    let received = 0;
    const serving = queue.serve(
      async (experiment) => {
        received += 1;
        if (received === 2) {
          states.delete(experiment);
          return 'complete';
        }
        states.set(experiment, 'allocated');
        await queue.release(experiment); // its job is active: this does nothing
        return 'queued';
      },
      { concurrency: 1, lockMs: 5_000 },
    );
    await queue.release('exp-a');
    await until(() => received === 2, 'it is received again');
    await until(async () => Object.keys(await jobs()).length === 0, 'it is completed');
    await serving.close(1_000);
  });
});
