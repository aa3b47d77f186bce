import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { createDisk, type Disk } from '../../nemesis/disk.ts';
import { until } from '../../support/dispatch.ts';
import { type RedisServer, type RedisServerOptions, startRedis } from '../../support/redis.ts';

/** A Redis on a disk with faults; undefined if this machine has no such disk. */
async function redisOnDisk(
  t: { after(release: () => Promise<void>): void; skip(why: string): void },
  appendfsync: NonNullable<RedisServerOptions['appendfsync']>,
): Promise<{ disk: Disk; server: RedisServer; redis: Redis } | undefined> {
  const resources = new AsyncDisposableStack();
  t.after(() => resources.disposeAsync());
  const disk = await createDisk();
  resources.defer(() => disk.stop());
  if (disk.missing !== undefined) return void t.skip(disk.missing);
  const server = await startRedis({ ...disk.redis, appendfsync });
  resources.defer(() => server.stop());
  const redis = new Redis(server.url, { maxRetriesPerRequest: null });
  redis.on('error', () => {});
  resources.defer(() => redis.disconnect());
  return { disk, server, redis };
}

for (const { appendfsync, outcome, slowMs } of [
  { appendfsync: 'always', outcome: 'keeps', slowMs: 50 },
  // No sync ends before the power fails.
  { appendfsync: 'everysec', outcome: 'loses', slowMs: 60_000 },
] as const)
  test(`a Redis that syncs ${appendfsync} ${outcome} acknowledged writes when the power fails in a slow sync`, async (t) => {
    const { disk, server, redis } = (await redisOnDisk(t, appendfsync)) ?? {};
    if (!disk || !server || !redis) return;
    await until(async () => (await redis.incr('synced')) && (await disk.syncs()) > 0, 'the file is synced');
    await disk.slow(slowMs);
    for (let index = 0; index < 20; index += 1) await redis.set(`key:${index}`, 'x');
    await server.kill();
    await disk.heal();
    await disk.losePower(server.dir);
    await server.start();
    const { length } = await redis.keys('key:*');
    assert.equal(length === 20 ? 'keeps' : 'loses', outcome, `${length} of 20`);
  });

for (const fault of ['fill', 'breakSync'] as const)
  test(`a Redis that syncs always ends at a write after ${fault} of its disk, and starts again`, async (t) => {
    const { disk, server, redis } = (await redisOnDisk(t, 'always')) ?? {};
    if (!disk || !server || !redis) return;
    await redis.set('key', 'before');
    await disk[fault]();
    redis.set('other', 'x').catch(() => {});
    await server.ended();
    await disk.heal();
    await server.restart();
    assert.equal(await redis.get('key'), 'before');
  });
