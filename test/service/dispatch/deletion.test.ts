import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import { allBatches } from '../../support/batches.ts';
import { type Bench, startBench, until } from '../../support/dispatch.ts';

/**
 * What may still name an experiment that is gone: what was said of it to others, its place on the board, and that
 * clusters are to forget its event logs. All of it is bounded.
 */
const HISTORY = /^\{echelon\}:(?:feed|audit|bull:|freed:|forgetting$)/;

let bench: Bench;
let redis: Redis;
before(async () => {
  bench = await startBench();
  redis = new Redis(bench.server.url);
  // Else the id may hide in what DUMP compresses.
  await redis.config('SET', 'rdbcompression', 'no');
  await bench.dispatcher({ times: { retentionMs: 100 } });
});
after(async () => {
  redis.disconnect();
  await bench.stop();
});

/** Every key that names the experiment, or holds its id. */
async function tracesOf(id: string): Promise<string[]> {
  const found: string[] = [];
  for (const key of await redis.keys('*')) {
    const bytes = key.includes(id) ? undefined : await redis.dumpBuffer(key);
    if (key.includes(id) || bytes?.includes(id)) found.push(key);
  }
  return found.filter((key) => !HISTORY.test(key));
}

async function filesOf(id: string): Promise<string[]> {
  const all = await readdir(join(bench.directory, 'archive'), { recursive: true }).catch(() => []);
  return all.filter((name) => name.includes(id));
}

// Fails without one of the lines of redis/lua/remove.lua, or without the collection of the archive.
test('a deleted experiment leaves nothing in Redis or in the archive', async () => {
  const id = await bench.submit({ steps: 4, batchBytes: 200_000, logLines: 3 });
  const kept = await bench.submit({ steps: 4, batchBytes: 200_000 });
  for (const one of [id, kept]) {
    await bench.reaches(one, 'succeeded');
    await until(
      async () => (await bench.store.experiments.get(one))?.verification.status === 'complete',
      'verification is complete',
    );
  }
  for (const one of [id, kept]) {
    await until(
      async () => (await bench.store.archive.archiveStream(one)) === 'archived',
      'the stream is archived',
    );
  }
  assert.ok((await filesOf(id)).length > 4);
  const others = await bench.store.events.read(kept, undefined, 1000);

  assert.equal(await bench.store.experiments.delete(id), 'deleted');
  assert.equal(await bench.store.experiments.get(id), undefined);
  assert.deepEqual(await bench.store.events.read(id, undefined, 10), []);
  await until(async () => (await filesOf(id)).length === 0, 'its files are gone');
  await until(
    async () => (await redis.scard('{echelon}:archive:garbage')) === 0,
    'nothing is left to collect',
  );
  assert.deepEqual(await tracesOf(id), []);
  assert.ok(
    await redis.zscore('{echelon}:forgetting', id),
    'its event logs on the cluster are forgotten in time',
  );

  assert.deepEqual(await bench.store.events.read(kept, undefined, 1000), others);
  for (const batch of await allBatches(bench.store, kept)) {
    assert.ok((await bench.store.batches.bytes(batch)).byteLength >= 200_000);
  }
});
