import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { Redis } from 'ioredis';
import { createLine, type Line } from '../../../src/queue/line.ts';
import { until } from '../../support/dispatch.ts';
import { type RedisServer, startRedis } from '../../support/redis.ts';

describe('the line', () => {
  let server: RedisServer;
  let redis: Redis;
  let line: Line;
  before(async () => {
    server = await startRedis({ appendfsync: 'no' });
    redis = new Redis(server.url, { maxRetriesPerRequest: 1 });
  });
  beforeEach(async (t) => {
    await redis.flushall();
    line = createLine({ redis, prefix: '{test}', onError: (error) => assert.fail(error) });
    const opened = line;
    (t as { after(release: () => Promise<void>): void }).after(() => opened.close());
  });
  after(async () => {
    redis.disconnect();
    await server.stop();
  });

  test('holds an experiment once, under its own id, with nothing but a pointer', async () => {
    await line.join('exp-a', 0);
    await line.join('exp-a', 0);
    assert.deepEqual(await line.slice(0, 10), ['exp-a']);
    const job = await line.queues[0]?.getJob('exp-a');
    assert.deepEqual(job?.data, { experiment: 'exp-a' });
    for (const key of await redis.keys('*')) assert.ok(key.startsWith('{test}:bull:'), key);
  });

  test('is served by priority, then in the order of arrival', async () => {
    await line.join('exp-low', -100);
    await line.join('exp-first', 0);
    await line.join('exp-second', 0);
    await line.join('exp-high', 100);
    const seen: string[] = [];
    const serving = line.serve(
      async (experiment) => {
        seen.push(experiment);
        return { done: true };
      },
      { concurrency: 1 },
    );
    await until(() => seen.length === 4, 'all are served');
    await serving.close(1000);
    assert.deepEqual(seen, ['exp-high', 'exp-first', 'exp-second', 'exp-low']);
    assert.deepEqual(await line.slice(0, 10), []);
  });

  test('moves a job to another priority, and passes over one that is not there', async () => {
    await line.join('exp-a', 0);
    await line.join('exp-b', 0);
    await line.move('exp-b', 50);
    await line.move('exp-none', 50);
    const seen: string[] = [];
    const serving = line.serve(
      async (experiment) => {
        seen.push(experiment);
        return { done: true };
      },
      { concurrency: 1 },
    );
    await until(() => seen.length === 2, 'both are served');
    await serving.close(1000);
    assert.deepEqual(seen, ['exp-b', 'exp-a']);
  });

  test('parks an experiment whose turn has not come, and keeps its job in the line', async () => {
    await line.join('exp-a', 0);
    const serving = line.serve(async () => ({ done: false, parkMs: 60_000 }), { concurrency: 4 });
    await until(async () => (await line.counts()).delayed === 1, 'it is parked');
    assert.deepEqual(await line.slice(0, 10), ['exp-a']);
    assert.deepEqual(await line.missing(['exp-a']), []);
    assert.equal(await line.ensure('exp-a', 0), false);
    await line.leave('exp-a');
    assert.deepEqual(await line.slice(0, 10), []);
    await serving.close(1000);
  });

  test('gives back its jobs piece by piece, and says who has none', async () => {
    const ids = Array.from({ length: 7 }, (_, at) => `exp-${at}`);
    await Promise.all(ids.map((id) => line.join(id, 0)));
    const pieces = [await line.slice(0, 3), await line.slice(3, 3), await line.slice(6, 3)];
    assert.deepEqual(pieces.flat(), ids);
    assert.deepEqual(await line.missing(['exp-x', 'exp-3', 'exp-y']), ['exp-x', 'exp-y']);
    assert.deepEqual(await line.missing([]), []);
  });

  test('asks again after a handler that threw', async () => {
    const errors: Error[] = [];
    const own = createLine({ redis, prefix: '{test}', onError: (error) => errors.push(error) });
    await own.join('exp-a', 0);
    let looks = 0;
    const serving = own.serve(
      async () => {
        looks += 1;
        if (looks === 1) throw new Error('broken');
        return { done: true };
      },
      { concurrency: 1 },
    );
    await until(() => looks === 2, 'it is looked at again');
    await serving.close(1000);
    await own.close();
    assert.equal(errors[0]?.message, 'broken');
  });

  test('puts an experiment into the line again although its earlier job is kept for the board', async () => {
    await line.join('exp-a', 0);
    let looks = 0;
    const serving = line.serve(
      async () => {
        looks += 1;
        return { done: true };
      },
      { concurrency: 1 },
    );
    await until(async () => (await line.counts()).completed === 1, 'the first place is done with');
    assert.deepEqual(await line.missing(['exp-a']), ['exp-a']);
    assert.equal(await line.ensure('exp-a', 0), true);
    await until(() => looks === 2, 'the second is looked at');
    await serving.close(1000);
  });

  test('takes many at once, each at its place, and a second time changes nothing', async () => {
    const places = ['exp-a', 'exp-b', 'exp-c'].map((experiment, at) => ({ experiment, priority: at - 1 }));
    await line.join('exp-b', 0);
    for (let times = 0; times < 2; times += 1)
      await Promise.all(places.map(({ experiment, priority }) => line.join(experiment, priority)));
    assert.deepEqual(await line.slice(0, 10), ['exp-c', 'exp-b', 'exp-a']);
    const seen: string[] = [];
    const handle = async (experiment: string) => {
      seen.push(experiment);
      return { done: true } as const;
    };
    const serving = line.serve(handle, { concurrency: 1 });
    await until(() => seen.length === 3, 'all are looked at');
    assert.deepEqual(seen, ['exp-c', 'exp-b', 'exp-a']);
    await serving.close(1000);
  });

  test('leaves an active job where it is, and lets the others leave', async () => {
    await line.join('exp-a', 0);
    const release = Promise.withResolvers<void>();
    let active = false;
    const serving = line.serve(
      async () => {
        active = true;
        await release.promise;
        return { done: true };
      },
      { concurrency: 1 },
    );
    await until(() => active, 'it is active');
    assert.equal(await line.ensure('exp-a', 0), false);
    await line.join('exp-b', 0);
    assert.equal(await line.ensure('exp-b', 0), false);
    await line.leave('exp-b');
    await line.leave('exp-a');
    assert.deepEqual([await line.slice(0, 10), (await line.counts()).active], [[], 1]);
    release.resolve();
    await serving.close(1000);
  });
});
