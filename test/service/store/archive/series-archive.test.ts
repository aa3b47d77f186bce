import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EchelonError } from '../../../../src/core/errors.ts';
import type { Archive } from '../../../../src/store/archive/archive.ts';
import {
  createSeriesReader,
  packSeries,
  unpackSeries,
} from '../../../../src/store/archive/series-archive.ts';
import type { Lease } from '../../../../src/store/attempts/types.ts';
import type { StoreContext } from '../../../../src/store/context.ts';
import { createMetricSeries } from '../../../../src/store/metrics/metric-series.ts';
import { createKeys } from '../../../../src/store/redis/keys.ts';
import { loadScripts } from '../../../../src/store/redis/scripts.ts';
import type { Store } from '../../../../src/store/store.ts';
import { archiveFor, claimed, running, storeFor } from '../../../support/store.ts';

async function record(store: Pick<Store, 'events'>, lease: Lease, steps: number[]) {
  const events = steps.map((step, index) => ({
    sequence: index + 1,
    at: 0,
    event: { type: 'metrics', step, values: { x: step / 7, ...(step % 10 === 0 && { y: 'NaN' }) } } as const,
  }));
  await store.events.append(lease, events as never[]);
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

describe('the series of a finished experiment', () => {
  test('the series of a finished experiment is the same in the archive, and takes nothing of the store any more', async (t) => {
    const { store, redis } = await storeFor(t);
    let lease = await running(store);
    await record(store, lease, range(0, 3000));
    await store.attempts.end(lease, { to: 'queued', reason: 'node lost' });
    lease = await claimed(store, lease.experiment);
    await store.attempts.confirm(lease);
    await store.metrics.compact(lease.experiment);
    await record(store, lease, range(1234, 2900));
    const id = lease.experiment;
    const all = async () => {
      const charts: unknown[] = [];
      for (const [from, to] of [
        [0, 5000],
        [1200, 1300],
        [2890, 2950],
      ] as const) {
        for (const resolution of [1, 20, 500]) {
          charts.push(await store.metrics.series(id, { names: ['x', 'y', 'z'], from, to, resolution }));
        }
      }
      return charts;
    };
    const before = await all();
    assert.equal(await store.archive.archiveStream(id), 'waiting');
    await store.attempts.end(lease, { to: 'succeeded', reason: 'done' });
    await store.rules.dropSignals(id);
    // While it moves into the archive, readers see all of it.
    const during = Array.from({ length: 10 }, () => all());
    assert.equal(await store.archive.archiveStream(id), 'archived');
    for (const charts of await Promise.all(during)) assert.deepEqual(charts, before);
    assert.deepEqual(await all(), before);
    const key = `{echelon}:x:${id}:series`;
    assert.deepEqual([await redis.exists(key), await redis.exists(`${key}:rows`)], [0, 0]);
    assert.equal(await store.archive.archiveStream(id), 'archived');
    assert.deepEqual(await all(), before);
  });

  test('the series of a finished experiment is read completely even if it moves during a read', async (t) => {
    const { store, redis, archive } = await storeFor(t);
    const lease = await running(store);
    await record(store, lease, range(0, 500));
    await store.metrics.compact(lease.experiment);
    await store.attempts.end(lease, { to: 'succeeded', reason: 'done' });
    await store.rules.dropSignals(lease.experiment);
    const query = { names: ['x'], resolution: 50 };
    const before = await store.metrics.series(lease.experiment, query);
    const run = loadScripts(redis, '{echelon}');
    const hmgetBuffer = async (...args: [string, ...string[]]) => {
      assert.equal(await store.archive.archiveStream(lease.experiment), 'archived');
      return await redis.hmgetBuffer(...args);
    };
    const context = { redis: { hmgetBuffer }, archive, keys: createKeys('echelon'), run };
    const reader = createMetricSeries(context as unknown as StoreContext);
    // Fails without the second read: the block is not there any more.
    assert.deepEqual(await reader.series(lease.experiment, query), before);
  });

  test('stays in the store where the archive does not take it', async (t) => {
    const real = await archiveFor(t);
    let fails = true;
    const archive: Archive = {
      ...real,
      put: async (...args) => {
        if (fails) throw new EchelonError('store-unavailable', 'the disk is full');
        await real.put(...args);
      },
    };
    const { store } = await storeFor(t, { archive });
    const lease = await running(store);
    await record(store, lease, range(0, 200));
    await store.attempts.end(lease, { to: 'succeeded', reason: 'done' });
    await store.rules.dropSignals(lease.experiment);
    const query = { names: ['x'], resolution: 500 };
    const before = await store.metrics.series(lease.experiment, query);
    await assert.rejects(store.archive.archiveStream(lease.experiment));
    assert.deepEqual(await store.metrics.series(lease.experiment, query), before);
    fails = false;
    assert.equal(await store.archive.archiveStream(lease.experiment), 'archived');
    assert.deepEqual(await store.metrics.series(lease.experiment, query), before);
  });
});

test('a series is unpacked as it was packed, and nothing else is taken for one', async () => {
  const fields = new Map([
    ['c1:0:0:0', Buffer.from([0, 255, 1])],
    ['', Buffer.alloc(0)],
  ]);
  assert.deepEqual([...(await unpackSeries(await packSeries(fields)))], [...fields]);
  await assert.rejects(unpackSeries(Buffer.from('echelon-series/1\nx')), /another format/);
});

test('those who ask for a series at the same time share one reading, and a failed one is tried anew', async (t) => {
  const real = await archiveFor(t);
  const bytes = await packSeries(new Map([['attempts', Buffer.from('1:3')]]));
  const digest = Buffer.from(await crypto.subtle.digest('SHA-256', new Uint8Array(bytes))).toString('hex');
  await real.put('exp-00000000000000000000', digest, bytes);
  let [reads, fails] = [0, true];
  const read = createSeriesReader({
    ...real,
    get: async (...args) => {
      reads++;
      if (fails) throw new EchelonError('store-unavailable', 'away');
      return await real.get(...args);
    },
  });
  await assert.rejects(read('exp-00000000000000000000', digest));
  fails = false;
  const all = await Promise.all([1, 2, 3].map(() => read('exp-00000000000000000000', digest)));
  assert.equal(all[2]?.get('attempts')?.toString(), '1:3');
  assert.equal(reads, 2);
});
