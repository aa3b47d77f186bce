import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { createKeys } from '../../../src/store/redis/keys.ts';
import { allBatches } from '../../support/batches.ts';
import { assertWholeStream, startBench, until } from '../../support/dispatch.ts';

const bench = await startBench();
after(() => bench.stop());
const keys = createKeys('echelon');

describe('dispatchers', () => {
  test('archive ended experiments during a read, and delete expired data', async () => {
    for (let count = 0; count < 2; count++) {
      await bench.dispatcher({ times: { retentionMs: 50, archiveAfterMs: 0 } });
    }
    const id = await bench.submit({ steps: 5, batchBytes: 200_000, logLines: 20 });
    const followed: string[] = [];
    for await (const entry of bench.store.events.follow(id, undefined, AbortSignal.timeout(30_000))) {
      followed.push(entry.id);
    }
    await until(async () => (await bench.redis.xlen(keys.events(id))) === 0, 'the stream is archived');
    const events = await bench.store.events.read(id, undefined, 100_000);
    assert.deepEqual(
      events.map((entry) => entry.id),
      followed,
    );
    assert.ok((await assertWholeStream(bench.store, id, 1)) > 10);
    const batches = await allBatches(bench.store, id);
    assert.equal(batches.length, 5);
    for (const batch of batches) assert.equal((await bench.store.batches.bytes(batch)).byteLength, 200_000);

    await bench.store.projects.change('default', {
      retention: { batchesDays: 0, streamsDays: 0, recordsDays: 0 },
    });
    await until(async () => (await bench.store.experiments.get(id)) === undefined, 'the record is deleted');
    await until(async () => (await bench.redis.scard(keys.garbage)) === 0, 'the archive is tidied up');
    const left = await bench.redis.keys(`*${id}*`);
    assert.deepEqual(
      left.filter((key) => !key.includes(':bull:')),
      [],
    );
  });
});
