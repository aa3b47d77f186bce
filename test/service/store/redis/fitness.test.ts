import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EchelonError } from '../../../../src/core/errors.ts';
import { redisFor } from '../../../support/redis.ts';
import { storeFor } from '../../../support/store.ts';

async function faultsOf(check: Promise<void>): Promise<string> {
  try {
    await check;
  } catch (error) {
    assert.ok(error instanceof EchelonError && error.code === 'store-misconfigured', String(error));
    return error.message;
  }
  return '';
}

describe('checkFitness', () => {
  test('checkFitness passes a server that keeps what it accepts, and names each setting that does not', async (t) => {
    const { store, redis } = await storeFor(t);
    assert.equal(await faultsOf(store.checkFitness()), '');
    const settings = [
      ['appendonly', 'no', 'appendonly yes'],
      ['appendfsync', 'everysec', 'appendfsync always'],
      ['no-appendfsync-on-rewrite', 'yes', 'no-appendfsync-on-rewrite no'],
      ['maxmemory', '0', 'maxmemory 2gb'],
      ['aof-load-truncated', 'yes', 'aof-load-truncated no'],
      ['maxmemory-policy', 'allkeys-lru', 'maxmemory-policy noeviction'],
    ] as const;
    for (const [name, bad, line] of settings) {
      const [, good] = (await redis.config('GET', name)) as [string, string];
      await redis.config('SET', name, bad);
      const message = await faultsOf(store.checkFitness());
      assert.ok(message.includes(`${name} is "${bad}"`) && message.includes(`"${line}"`), message);
      for (const [other] of settings)
        if (other !== name) assert.ok(!message.includes(`${other} is`), message);
      await redis.config('SET', name, good);
    }
    assert.equal(await faultsOf(store.checkFitness()), '');
  });

  /* Fails if the mode is not read: the first key on another node ends in MOVED. */
  test('checkFitness refuses a server in cluster mode', async (t) => {
    const server = await redisFor(t, { config: { 'cluster-enabled': 'yes' } });
    const { store } = await storeFor(t, { server });
    assert.match(await faultsOf(store.checkFitness()), /cluster mode, which Echelon does not support/);
  });

  test('checkFitness refuses a replica', async (t) => {
    const primary = await redisFor(t);
    const { store, redis } = await storeFor(t);
    await redis.call('REPLICAOF', primary.host, String(primary.port));
    assert.match(await faultsOf(store.checkFitness()), /it is a replica.*name the primary in REDIS_URL/);
  });

  test('a server that forbids CONFIG is refused with a reason', async (t) => {
    const { store, redis } = await storeFor(t);
    await redis.acl('SETUSER', 'default', '-config');
    const message = await faultsOf(store.checkFitness());
    assert.match(
      message,
      /appendfsync cannot be read \(CONFIG is forbidden\).*"appendfsync always".*allow CONFIG GET/,
    );
  });
});

describe('pressure', () => {
  test('counts against maxmemory, and accepts everything without one', async (t) => {
    const { store, redis } = await storeFor(t);
    await redis.config('SET', 'maxmemory', '0');
    const free = await store.pressure();
    assert.deepEqual([free.maxBytes, free.accepting], [0, true]);
    assert.ok(free.usedBytes > 100_000);
    await redis.config('SET', 'maxmemory', String(Math.ceil(free.usedBytes / 0.6)));
    assert.equal((await store.pressure()).accepting, true);
    await redis.config('SET', 'maxmemory', String(Math.ceil(free.usedBytes / 0.8)));
    assert.equal((await store.pressure()).accepting, false);
  });
});
