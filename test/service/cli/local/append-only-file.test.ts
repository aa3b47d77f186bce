import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Redis } from 'ioredis';
import { cutUnfinishedTransaction } from '../../../../src/cli/local/redis-server.ts';
import { type RedisServer, startRedis } from '../../../support/redis.ts';

/** `start.sh` of the containers, with a `redis-server` that does nothing. */
async function runContainerStart(directory: string): Promise<void> {
  const programs = await mkdtemp(join(tmpdir(), 'echelon-programs-'));
  try {
    await writeFile(join(programs, 'redis-server'), '#!/bin/sh\n');
    await chmod(join(programs, 'redis-server'), 0o755);
    const PATH = `${programs}${delimiter}${process.env.PATH}`;
    const script = resolve('helm/echelon/files/redis-start.sh');
    execFileSync('sh', [script, 'redis.conf', directory], { env: { ...process.env, PATH } });
  } finally {
    await rm(programs, { recursive: true });
  }
}

const STARTS = [
  ['up', (directory: string) => cutUnfinishedTransaction('redis-server', directory)],
  ['the container', runContainerStart],
] as const;

describe('the end of the append-only file at a start', () => {
  let server: RedisServer;
  let file: string;
  let whole: Buffer;
  let firstEnd: number;

  before(async () => {
    server = await startRedis();
    const redis = new Redis(server.socket);
    const transaction = "redis.call('SET', 'a', ARGV[1]) redis.call('SET', 'b', ARGV[1])";
    const folder = join(server.dir, 'appendonlydir');
    await redis.eval(transaction, 0, 'first');
    file = join(folder, (await readdir(folder)).find((name) => name.endsWith('.incr.aof'))!);
    firstEnd = (await readFile(file)).length;
    await redis.eval(transaction, 0, 'second');
    redis.disconnect();
    await server.kill();
    whole = await readFile(file);
  });
  after(() => server.stop());

  for (const [name, start] of STARTS) {
    test(`${name} cuts an unfinished transaction wherever it ends`, async () => {
      const ends = [
        firstEnd + 1,
        firstEnd + 12,
        whole.lastIndexOf('SET'),
        whole.lastIndexOf('*1'),
        whole.length - 1,
      ];
      for (const end of ends) {
        await writeFile(file, whole.subarray(0, end));
        await start(server.dir);
        assert.deepEqual(await readFile(file), whole.subarray(0, firstEnd), `ends at ${end}`);
      }
    });

    test(`${name} leaves a whole file, and damage before a whole transaction`, async () => {
      const damaged = Buffer.from(whole);
      damaged[whole.indexOf('SET') - 1] = 0;
      for (const bytes of [whole, damaged]) {
        await writeFile(file, bytes);
        await start(server.dir);
        assert.deepEqual(await readFile(file), bytes);
      }
    });

    test(`${name} starts with a directory that has no append-only file`, async (t) => {
      const empty = await mkdtemp(join(tmpdir(), 'echelon-empty-'));
      t.after(() => rm(empty, { recursive: true }));
      await start(empty);
      assert.deepEqual(await readdir(empty), []);
    });
  }
});
