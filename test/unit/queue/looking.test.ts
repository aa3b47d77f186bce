import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DelayedError, type Job } from 'bullmq';
import { Redis } from 'ioredis';
import { connectToServe, createLook, type Looked, serveQueue, within } from '../../../src/queue/looking.ts';
import { redisFor } from '../../support/redis.ts';

function job(): { job: Job<string>; moved: [number, string | undefined][] } {
  const moved: [number, string | undefined][] = [];
  const moveToDelayed = async (at: number, token?: string) => void moved.push([at, token]);
  return { job: { data: 'x', moveToDelayed } as unknown as Job<string>, moved };
}

test('a job that is done with is left to end', async () => {
  const { job: one, moved } = job();
  const seen: string[] = [];
  const handle = async (data: string): Promise<Looked> => {
    seen.push(data);
    return { done: true };
  };
  await createLook(handle, assert.fail)(one, 't');
  assert.deepEqual([seen, moved], [['x'], []]);
});

test('one that is not is parked under its own token', async () => {
  const { job: one, moved } = job();
  const look = createLook<string>(async () => ({ done: false, parkMs: 5000 }), assert.fail);
  const before = Date.now();
  await assert.rejects(look(one, 't'), DelayedError);
  const [at, token] = moved[0]!;
  assert.equal(token, 't');
  assert.ok(at >= before + 5000 && at <= Date.now() + 5000);
});

test('a handler that fails is said and asked again, never a failed job', async () => {
  const { job: one, moved } = job();
  const said: string[] = [];
  const look = createLook<string>(
    () => Promise.reject(new Error('away')),
    (error) => said.push(error.message),
  );
  await assert.rejects(look(one, 't'), DelayedError);
  assert.deepEqual([said, moved.length], [['away'], 1]);
});

// Fails where the options of the caller's connection stay, or BullMQ's own bound on stalls.
test('a BullMQ worker waits while Redis is away, and fails no job for having stalled', async (t) => {
  const server = await redisFor(t);
  const hasty = new Redis(server.port, { maxRetriesPerRequest: 1, commandTimeout: 500 });
  const connection = connectToServe(hasty, assert.fail);
  const serving = serveQueue('q', async () => ({ done: true }), {
    ...{ connection, prefix: '{p}', concurrency: 1, onError: assert.fail },
  });
  const { maxRetriesPerRequest, commandTimeout } = connection.options;
  assert.deepEqual([maxRetriesPerRequest, commandTimeout], [null, undefined]);
  assert.ok((serving.opts.maxStalledCount ?? 0) > 1000);
  await serving.close();
  for (const redis of [connection, hasty]) redis.disconnect();
});

test('within tells work that is over from work that is late, and passes its failure on', async () => {
  assert.equal(await within(10_000, Promise.resolve()), true);
  assert.equal(await within(1, new Promise(() => {})), false);
  await assert.rejects(within(10_000, Promise.reject(new Error('x'))), /x/);
});
