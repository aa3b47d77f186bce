import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { commandQueue, createCommandQueues } from '../../../src/queue/commands.ts';
import type { Looked } from '../../../src/queue/looking.ts';
import { until } from '../../support/dispatch.ts';
import { redisFor } from '../../support/redis.ts';
import type { Scope } from '../../support/store.ts';

async function bench(scope: Scope) {
  const server = await redisFor(scope);
  const redis = new Redis(server.port, { maxRetriesPerRequest: null });
  const queues = createCommandQueues({ redis, prefix: '{p}', onError: (error) => assert.fail(error) });
  const resources = new AsyncDisposableStack();
  resources.defer(() => redis.disconnect());
  resources.defer(() => queues.close());
  return { redis, queues, resources, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

test('a job carries the id of its command and nothing else, once', async (t) => {
  await using parts = await bench(t);
  const { redis, queues } = parts;
  await queues.send('a', 'cmd-1');
  await queues.send('a', 'cmd-1');
  const queue = new Queue(commandQueue('a'), {
    connection: redis,
    prefix: '{p}:bull',
    skipVersionCheck: true,
  });
  const jobs = await queue.getJobs();
  assert.deepEqual(
    jobs.map(({ id, data }) => [id, data]),
    [['cmd-1', { command: 'cmd-1' }]],
  );
  await queue.close();
});

test('commands of served clusters are handed out, one of a cluster at a time; one that waits is asked again', async (t) => {
  await using parts = await bench(t);
  const { queues } = parts;
  const seen: string[] = [];
  let together = 0;
  const server = queues.server(async (command): Promise<Looked> => {
    together += 1;
    assert.equal(together, 1, 'two at a time');
    await new Promise(setImmediate);
    together -= 1;
    seen.push(command);
    const first = seen.filter((one) => one === 'cmd-2').length === 1;
    return command === 'cmd-2' && first ? { done: false, parkMs: 10 } : { done: true };
  });
  parts.resources.defer(() => server.close(1000));
  for (const command of ['cmd-1', 'cmd-2', 'cmd-3']) await queues.send('a', command);
  await queues.send('b', 'cmd-9');
  server.serve(new Set(['a']));
  await until(() => seen.length === 4, 'all of a were seen');
  assert.deepEqual(seen.toSorted(), ['cmd-1', 'cmd-2', 'cmd-2', 'cmd-3']);
  server.serve(new Set(['b']));
  await until(() => seen.includes('cmd-9'), 'that of b was seen');
});

test('closing leaves what is in hand when the grace is over', async (t) => {
  await using parts = await bench(t);
  const { queues } = parts;
  const begun = Promise.withResolvers<void>();
  const never = Promise.withResolvers<Looked>();
  const server = queues.server(() => {
    begun.resolve();
    return never.promise;
  });
  server.serve(new Set(['a']));
  await queues.send('a', 'cmd-1');
  await begun.promise;
  await server.close(50);
  never.resolve({ done: true });
});
