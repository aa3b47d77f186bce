import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Redis } from 'ioredis';
import { EchelonError } from '../../../../src/core/errors.ts';
import { guarded, runAll, toStoreError } from '../../../../src/store/redis/errors.ts';
import { redisFor } from '../../../support/redis.ts';
import { coded } from '../../../support/store.ts';

function reply(message: string): Error {
  const error = new Error(message);
  error.name = 'ReplyError';
  return error;
}

describe('toStoreError', () => {
  test('tells a full server, one that cannot serve, and a fault of ours apart', () => {
    const codes: [unknown, string][] = [
      [reply("OOM command not allowed when used memory > 'maxmemory'."), 'store-full'],
      [reply('LOADING Redis is loading the dataset in memory'), 'store-unavailable'],
      [reply('MISCONF Errors writing to the AOF file: No space left on device'), 'store-unavailable'],
      [reply("READONLY You can't write against a read only replica."), 'store-unavailable'],
      [reply('NOAUTH Authentication required.'), 'store-unavailable'],
      [reply('WRONGTYPE Operation against a key holding the wrong kind of value'), 'internal'],
      [reply('ERR user_script:3: attempt to index a nil value'), 'internal'],
      [new Error('Connection is closed.'), 'store-unavailable'],
      [new Error('Command timed out'), 'store-unavailable'],
      [Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }), 'store-unavailable'],
      [new TypeError('x is not a function'), 'internal'],
      ['thrown text', 'internal'],
    ];
    for (const [error, code] of codes) assert.equal(toStoreError(error).code, code, String(error));
    const ours = new EchelonError('not-found', '');
    assert.equal(toStoreError(ours), ours);
  });
});

test('what ioredis and Redis really throw is mapped', async (t) => {
  const server = await redisFor(t);
  const redis = new Redis(server.port, {
    maxRetriesPerRequest: 0,
    retryStrategy: () => 5,
    commandTimeout: 300,
  });
  redis.on('error', () => {});
  t.after(() => redis.disconnect());
  await redis.set('text', 'x');
  await assert.rejects(guarded(redis.zcard('text')), coded('internal'));
  await assert.rejects(runAll(redis.pipeline().get('text').zcard('text')), coded('internal'));
  assert.deepEqual(await runAll(redis.pipeline().get('text').strlen('text')), ['x', 1]);
  await redis.config('SET', 'maxmemory', '1');
  await assert.rejects(guarded(redis.set('more', 'x')), coded('store-full'));
  await assert.rejects(
    guarded(redis.eval('#!lua\nreturn redis.call("SET", KEYS[1], 1)', 1, 'k')),
    coded('store-full'),
  );
  await redis.config('SET', 'maxmemory', '0');
  server.freeze();
  await assert.rejects(guarded(redis.get('text')), coded('store-unavailable'));
  server.thaw();
  await server.kill();
  await assert.rejects(guarded(redis.get('text')), coded('store-unavailable'));
  await assert.rejects(runAll(redis.pipeline().get('text')), coded('store-unavailable'));
});
