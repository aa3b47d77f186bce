import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Redis } from 'ioredis';
import { findRedisServer, startRedis } from '../../../../src/cli/local/redis-server.ts';

async function directoryFor(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'echelon-redis-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

test('a server is found on PATH and says its version', async () => {
  assert.match((await findRedisServer())!.version, /\d+\.\d+\.\d+/);
});

test('the private server keeps what it accepts, is closed to others, and has its data again', async (t) => {
  const directory = join(await directoryFor(t), 'redis');
  const first = await startRedis({ directory, environment: process.env });
  t.after(() => first.server.stop(1000));
  const redis = new Redis(first.socket);
  t.after(() => redis.disconnect());
  for (const [name, value] of [
    ['appendonly', 'yes'],
    ['appendfsync', 'always'],
    ['aof-load-truncated', 'no'],
    ['maxmemory-policy', 'noeviction'],
    ['stream-node-max-bytes', '1024'],
    ['hash-max-listpack-value', '2048'],
    ['port', '0'],
  ] as const)
    assert.deepEqual(await redis.config('GET', name), [name, value]);
  assert.equal((await stat(first.socket)).mode & 0o777, 0o600);
  await redis.set('a', '1');
  redis.disconnect();
  process.kill(first.server.pid, 'SIGKILL');
  await first.server.ended;

  const second = await startRedis({ directory, environment: process.env });
  t.after(() => second.server.stop(1000));
  const again = new Redis(second.socket);
  t.after(() => again.disconnect());
  assert.equal(await again.get('a'), '1');
});

test('a state directory too deep for a socket does not matter', async (t) => {
  const directory = join(await directoryFor(t), 'deep'.repeat(30));
  const { socket, server } = await startRedis({ directory, environment: process.env });
  t.after(() => server.stop(1000));
  assert.ok(Buffer.byteLength(socket) <= 100);
});
