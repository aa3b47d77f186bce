import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { connectToServe, type Served, serveQueue } from '../../../src/queue/serve.ts';
import { until } from '../../support/dispatch.ts';
import { redisFor } from '../../support/redis.ts';
import type { Scope } from '../../support/store.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

const QUEUED_MS = 60_000;

/** A queue named `q`, and a server of it whose handler answers as `served` says. */
async function bench(t: Scope, served: (experiment: string) => Promise<Served>, { serving = true } = {}) {
  const releases: (() => Promise<void>)[] = [];
  t.after(async () => {
    for (const release of releases.toReversed()) await release();
  });
  const { port } = await redisFor({ after: (release) => void releases.push(release) });
  const redis = new Redis(port, { maxRetriesPerRequest: null });
  const queue = new Queue('q', { connection: redis, prefix: '{p}' });
  const errors: string[] = [];
  const reported: [string, string][] = [];
  const start = () =>
    serveQueue(served, {
      name: 'q',
      prefix: '{p}',
      redis,
      concurrency: 4,
      lockMs: serving ? 20_000 : 300,
      queuedMs: QUEUED_MS,
      onError: (error) => errors.push(error.message),
      onServed: async (experiment, how) => void reported.push([experiment, how]),
    });
  const server = serving ? start() : undefined;
  releases.push(async () => {
    await server?.close(1_000);
    await queue.close();
    redis.disconnect();
  });
  const add = (id: string) => queue.add('experiment', {}, { jobId: id, removeOnComplete: true });
  return { redis, queue, errors, reported, add, start };
}

test('a completed job is removed and reported', async (t) => {
  const { queue, reported, add } = await bench(t, async () => 'complete');
  await add('exp-a');
  await until(() => reported.length === 1, 'it is reported');
  assert.deepEqual(reported, [['exp-a', 'complete']]);
  assert.equal(await queue.getJob('exp-a'), undefined);
});

test('the job of a queued experiment is delayed and reported', async (t) => {
  const { queue, reported, add } = await bench(t, async () => 'queued');
  await add('exp-a');
  await until(() => reported.length === 1, 'it is reported');
  assert.deepEqual(reported, [['exp-a', 'queued']]);
  const job = (await queue.getJob('exp-a'))!;
  assert.deepEqual([await job.getState(), job.delay > QUEUED_MS / 2], ['delayed', true]);
});

test('a job that cannot be handled now, or whose handler throws, is received again', async (t) => {
  const answers: (() => Promise<Served>)[] = [
    async () => 'soon',
    () => Promise.reject(new Error('away')),
    async () => 'complete',
  ];
  const { queue, errors, reported, add } = await bench(t, () => answers.shift()!());
  await add('exp-a');
  await until(() => reported.length === 1, 'it is served at last');
  assert.deepEqual([answers.length, errors, reported], [0, ['away'], [['exp-a', 'complete']]]);
  assert.equal((await queue.getJobCounts()).failed, 0);
});

test('the jobs of a process that died are received again, however often that happens', async (t) => {
  const { redis, reported, add, start } = await bench(t, async () => 'complete', { serving: false });
  await add('exp-a');
  for (let deaths = 0; deaths < 3; deaths += 1) {
    const taken = Promise.withResolvers<void>();
    const connection = redis.duplicate();
    const dying = new Worker(
      'q',
      async () => {
        taken.resolve();
        await new Promise(() => {});
      },
      {
        connection,
        prefix: '{p}',
        lockDuration: 300,
        stalledInterval: 100,
        maxStalledCount: 1_000,
      },
    );
    dying.on('error', () => {});
    await taken.promise;
    await dying.close(true);
    connection.disconnect();
  }
  const server = start();
  await until(() => reported.length === 1, 'it is served');
  await server.close(1_000);
});

// Fails if the options of the caller's connection stay.
test('the job of a process that died while the clock of Redis had leapt is received after its return', async (t) => {
  const received: string[] = [];
  const { redis, queue, add, start } = await bench(
    t,
    async (experiment) => {
      received.push(experiment);
      return 'complete';
    },
    { serving: false },
  );
  await add('exp-a');
  const dead = new Worker('q', null, { connection: redis, prefix: '{p}', lockDuration: 300 });
  await dead.getNextJob('token');
  await dead.close(true);
  for (const key of ['exp-a:lock', 'stalled-check'])
    await redis.set(`{p}:q:${key}`, 'token', 'PX', 24 * 3_600_000);
  await redis.sadd('{p}:q:stalled', 'exp-a');
  const server = start();
  t.after(() => server.close(1_000));
  await until(() => received.length === 1, 'it is received');
  await until(async () => (await queue.getJobCounts('active')).active === 0, 'it is completed');
});

test('a connection to serve waits while Redis is away', async (t) => {
  const server = await redisFor(t);
  const hasty = new Redis(server.port, { maxRetriesPerRequest: 1, commandTimeout: 500 });
  const { connection } = connectToServe(hasty, assert.fail);
  const { maxRetriesPerRequest, commandTimeout } = connection.options;
  assert.deepEqual([maxRetriesPerRequest, commandTimeout], [null, undefined]);
  for (const redis of [connection, hasty]) redis.disconnect();
});

/* Fails without a socket timeout: BullMQ waits for an answer on its other connection forever. */
test('jobs are served after every connection became half open', async (t) => {
  const resources = new AsyncDisposableStack();
  t.after(() => resources.disposeAsync());
  const { port } = await redisFor({ after: (release) => resources.defer(release) });
  const proxy = await startTcpProxy(`127.0.0.1:${port}`);
  resources.defer(() => proxy.stop());
  const near = new Redis(port, { maxRetriesPerRequest: null });
  const far = new Redis(`redis://${proxy.address}`, { socketTimeout: 200 });
  for (const redis of [near, far]) resources.defer(() => redis.disconnect());
  const queue = new Queue('q', { connection: near, prefix: '{p}' });
  resources.defer(() => queue.close());
  const served: string[] = [];
  const handle = async (experiment: string): Promise<Served> => {
    served.push(experiment);
    return 'complete';
  };
  const server = serveQueue(handle, {
    name: 'q',
    prefix: '{p}',
    redis: far,
    concurrency: 4,
    lockMs: 20_000,
    queuedMs: QUEUED_MS,
    onError: () => {},
    onServed: async () => {},
  });
  resources.defer(() => server.close(1_000));
  await queue.add('experiment', {}, { jobId: 'exp-a' });
  await until(() => served.includes('exp-a'), 'the first job is served');
  proxy.freeze();
  await queue.add('experiment', {}, { jobId: 'exp-b' });
  await until(() => served.includes('exp-b'), 'the second job is served');
});
