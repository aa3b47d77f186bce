import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { watchStore } from '../../../../src/main/watch-store.ts';
import { createExperimentsQueue } from '../../../../src/queue/experiments-queue.ts';
import { createOwnRedis, type OwnRedis } from '../../../../src/store/redis/own-redis.ts';
import { createStore } from '../../../../src/store/store.ts';
import { QUIET, until } from '../../../support/dispatch.ts';
import { redisFor } from '../../../support/redis.ts';
import { archiveFor, type Scope } from '../../../support/store.ts';
import { startTcpProxy } from '../../../support/tcp-proxy.ts';

const ID = '{echelon}:archive:id';

function connect(t: Scope, port: number, own?: OwnRedis): Redis {
  const options = { port, host: '127.0.0.1', maxRetriesPerRequest: 1, retryStrategy: () => 20 };
  const redis = new Redis({ ...options, ...own?.options });
  redis.on('error', () => {}); // the connection is refused on purpose
  t.after(async () => redis.disconnect());
  return redis;
}

/** The queue of experiments, all of which are allocated. */
function queueOn(t: Scope, redis: Redis) {
  const queue = createExperimentsQueue({
    redis,
    prefix: '{echelon}',
    onError: () => {},
    statesOf: async (ids) => new Map(ids.map((id) => [id, 'allocated'])),
  });
  t.after(() => queue.close());
  return queue;
}

/** A process whose address of Redis can be led elsewhere. `served`: the experiments whose jobs it received. */
async function processFor(t: Scope) {
  const [home, other] = await Promise.all([redisFor(t), redisFor(t)]);
  const proxy = await startTcpProxy(`127.0.0.1:${home.port}`);
  t.after(() => proxy.stop());
  const own = createOwnRedis(ID);
  let refused = 0;
  own.onForeign(() => {
    refused += 1;
  });
  const redis = connect(t, Number(proxy.address.split(':')[1]), own);
  const store = createStore({ redis, archive: await archiveFor(t) });
  t.after(() => store.close());
  own.bind(await store.bind('own'));
  const served: string[] = [];
  const worker = queueOn(t, redis).serve(
    async (id) => {
      served.push(id);
      return 'complete';
    },
    { concurrency: 1, lockMs: 1_000 },
  );
  t.after(() => worker.close(0));
  return {
    ...{ proxy, own, redis, store },
    home: connect(t, home.port),
    homeAddress: `127.0.0.1:${home.port}`,
    other: connect(t, other.port),
    otherAddress: `127.0.0.1:${other.port}`,
    serves: (id: string) => until(() => served.includes(id), `${id} is served`),
    served,
    /** Each connection was refused at least once: the store's, its wake-ups', and those of BullMQ. */
    async isRefused(): Promise<void> {
      const before = refused;
      await until(() => refused >= before + 12, 'the connections are refused');
    },
  };
}

test('BullMQ serves no queue of another installation, and writes nothing into its Redis or an empty one', async (t) => {
  const one = await processFor(t);
  const [home, other] = [queueOn(t, one.home), queueOn(t, one.other)];
  await home.enqueue(['exp-1']);
  await one.serves('exp-1');
  await one.other.flushall();
  one.proxy.lead(one.otherAddress);
  await one.isRefused();
  assert.deepEqual(await one.other.keys('*'), []);
  await one.other.set(ID, 'other');
  await other.enqueue(['exp-2']);
  const keys = (await one.other.keys('*')).sort();
  await one.isRefused();
  assert.deepEqual((await one.other.keys('*')).sort(), keys);
  assert.deepEqual(one.served, ['exp-1']);
  assert.ok(one.own.isForeign());
  one.proxy.lead(one.homeAddress);
  await home.enqueue(['exp-3']);
  await one.serves('exp-3');
  assert.ok(!one.own.isForeign());
});

test('connections that a Redis had before it was emptied are closed, and the fault names the other installation', async (t) => {
  const one = await processFor(t);
  const { store, redis: connection, own } = one;
  const installation = 'own';
  const watch = watchStore({
    store,
    connection,
    own,
    installation,
    allowUnfit: true,
    log: QUIET,
    everyMs: 50,
  });
  t.after(async () => watch.stop());
  const home = queueOn(t, one.home);
  await home.enqueue(['exp-1']);
  await one.serves('exp-1');
  await one.home.flushall();
  await one.isRefused();
  await until(() => watch.fault()?.code === 'store-foreign', 'the fault is known');
  await one.home.flushall();
  await one.isRefused();
  assert.deepEqual(await one.home.keys('*'), []);
  await one.home.set(ID, 'own');
  await until(() => watch.fault() === null, 'the Redis is accepted again');
  await home.enqueue(['exp-2']);
  await one.serves('exp-2');
});
