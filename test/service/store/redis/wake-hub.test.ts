import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { Redis } from 'ioredis';
import { createWakeHub } from '../../../../src/store/redis/wake-hub.ts';
import { until } from '../../../support/dispatch.ts';
import { redisFor } from '../../../support/redis.ts';
import { startTcpProxy } from '../../../support/tcp-proxy.ts';

/** A listener whose calls can be awaited one by one. */
function ear() {
  const heard: (string | undefined)[] = [];
  let next = Promise.withResolvers<void>();
  return {
    heard,
    listener(message: string | undefined): void {
      heard.push(message);
      next.resolve();
      next = Promise.withResolvers<void>();
    },
    async until(condition: (heard: (string | undefined)[]) => boolean): Promise<void> {
      while (!condition(heard)) await next.promise;
    },
  };
}

test('listeners hear their channel, and that they may have missed something when the server is back', async (t) => {
  const server = await redisFor(t);
  const redis = new Redis(server.port, { maxRetriesPerRequest: null });
  redis.on('error', () => {});
  const hub = createWakeHub(redis);
  t.after(() => {
    hub.close();
    redis.disconnect();
  });
  const [one, two, other] = [ear(), ear(), ear()];
  const first = hub.listen('a', one.listener);
  const second = hub.listen('a', two.listener);
  const third = hub.listen('b', other.listener);
  await Promise.all([first.ready, second.ready, third.ready]);
  await redis.publish('a', 'x');
  await Promise.all([one, two].map((each) => each.until((heard) => heard.includes('x'))));
  assert.ok(!other.heard.includes('x'));

  second.stop();
  second.stop();
  const missed = one.heard.filter((message) => message === undefined).length;
  await server.restart();
  await one.until((heard) => heard.filter((message) => message === undefined).length > missed);
  await redis.publish('a', 'y');
  await one.until((heard) => heard.includes('y'));
  assert.ok(!two.heard.includes('y'));
  first.stop();
  await until(
    async () => isDeepStrictEqual(await redis.pubsub('CHANNELS'), ['b']),
    'the server has only the channel of the remaining listener',
  );
});

/* Fails without a command of the subscriber's own: its silence would look like that of an idle server. */
test('listeners hear that they may have missed something when the connection is half open', async (t) => {
  const server = await redisFor(t);
  const proxy = await startTcpProxy(`127.0.0.1:${server.port}`);
  t.after(() => proxy.stop());
  const redis = new Redis(`redis://${proxy.address}`, { maxRetriesPerRequest: null, socketTimeout: 200 });
  redis.on('error', () => {});
  const hub = createWakeHub(redis);
  t.after(() => {
    hub.close();
    redis.disconnect();
  });
  const one = ear();
  await hub.listen('a', one.listener).ready;
  const missed = one.heard.length;
  proxy.freeze();
  await one.until((heard) => heard.length > missed);
  await redis.publish('a', 'y');
  await one.until((heard) => heard.includes('y'));
});

test('a hub that is asked while the server is away listens when it comes', async (t) => {
  const server = await redisFor(t);
  await server.kill();
  const redis = new Redis(server.port, { maxRetriesPerRequest: 0 });
  redis.on('error', () => {});
  const hub = createWakeHub(redis);
  t.after(() => {
    hub.close();
    redis.disconnect();
  });
  const one = ear();
  const subscription = hub.listen('a', one.listener);
  await server.start();
  await subscription.ready;
  assert.deepEqual(one.heard.slice(0, 1), [undefined]);
});

test('close calls every listener once more and refuses new ones', async (t) => {
  const server = await redisFor(t);
  const redis = new Redis(server.port);
  t.after(() => redis.disconnect());
  const hub = createWakeHub(redis);
  const one = ear();
  await hub.listen('a', one.listener).ready;
  const before = one.heard.length;
  hub.close();
  assert.equal(hub.closed, true);
  assert.equal(one.heard.length, before + 1);
  await hub.listen('a', one.listener).ready;
});
