import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { watchStore } from '../../../src/main/watch-store.ts';
import { QUIET, until } from '../../support/dispatch.ts';
import { partialStore } from '../../support/partial-store.ts';
import { type Scope, storeFor } from '../../support/store.ts';

async function benchFor(t: Scope, { everyMs = 50, allowUnfit = false } = {}) {
  const { store, redis, server } = await storeFor(t);
  const installation = await store.bind('own');
  const watch = watchStore({ store, connection: redis, installation, allowUnfit, log: QUIET, everyMs });
  t.after(async () => watch.stop());
  const is = (code: string | undefined) => until(() => watch.fault()?.code === code, `the fault is ${code}`);
  return { redis, server, watch, is };
}

test('a Redis whose settings are changed so that it may lose accepted work is refused until they are right', async (t) => {
  const { redis, watch, is } = await benchFor(t);
  for (const [name, bad, good] of [
    ['appendonly', 'no', 'yes'],
    ['appendfsync', 'everysec', 'always'],
    ['no-appendfsync-on-rewrite', 'yes', 'no'],
    ['maxmemory-policy', 'allkeys-lru', 'noeviction'],
  ] as const) {
    await redis.config('SET', name, bad);
    await is('store-misconfigured');
    assert.ok(watch.fault()?.message.includes(`put the line "${name} ${good}"`));
    await redis.config('SET', name, good);
    await is(undefined);
  }
});

test('a Redis that was emptied or replaced is refused, also by a process that allows an unfit one', async (t) => {
  const { redis, is } = await benchFor(t, { allowUnfit: true });
  await redis.config('SET', 'appendfsync', 'no');
  await redis.flushall();
  await is('store-foreign');
  await redis.set('{echelon}:archive:id', 'another');
  await is('store-foreign');
  await redis.set('{echelon}:archive:id', 'own');
  await is(undefined);
});

test('a reconnect is followed by a check at once', async (t) => {
  const { redis, server, is } = await benchFor(t, { everyMs: 3_600_000 });
  await redis.flushall();
  // events.once would reject at the refused connections before.
  const again = new Promise((resolve) => redis.once('ready', resolve));
  await server.restart();
  await again;
  await is('store-foreign');
});

/* Fails if the check that ends last decides, or if a check without an answer counts as one. */
test('a slow check does not overwrite what a later check found, and does count if the later one got no answer', async (t) => {
  const installation = 'own';
  const answers: PromiseWithResolvers<string>[] = [];
  const store = partialStore({
    installation: () => {
      const answer = Promise.withResolvers<string>();
      answers.push(answer);
      return answer.promise;
    },
  });
  const connection = new EventEmitter<{ ready: [] }>();
  const watch = watchStore({
    ...{ store, connection, installation, allowUnfit: true, log: QUIET },
    everyMs: 3_600_000,
  });
  t.after(async () => watch.stop());
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const begin = () => {
    connection.emit('ready');
    return answers.at(-1)!;
  };
  const [first, second] = [begin(), begin()];
  second.resolve('another');
  await settled();
  assert.equal(watch.fault()?.code, 'store-foreign');
  first.resolve(installation);
  await settled();
  assert.equal(watch.fault()?.code, 'store-foreign', 'the earlier check ended after the later one');

  const [third, fourth] = [begin(), begin()];
  fourth.reject(new Error('no answer'));
  await settled();
  assert.equal(watch.fault()?.code, 'store-foreign');
  third.resolve(installation);
  await settled();
  assert.equal(watch.fault(), null);
});
