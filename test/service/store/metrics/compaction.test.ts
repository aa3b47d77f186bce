import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { NumberedEvent } from '../../../../src/core/events.ts';
import type { Lease } from '../../../../src/store/attempts/types.ts';
import type { StoreContext } from '../../../../src/store/context.ts';
import { createCompaction } from '../../../../src/store/metrics/metric-series.ts';
import { createKeys } from '../../../../src/store/redis/keys.ts';
import { loadScripts, type RunScript } from '../../../../src/store/redis/scripts.ts';
import { claimed, running, storeFor } from '../../../support/store.ts';

const { store, redis } = await storeFor({ after });
const run = loadScripts(redis, '{echelon}');

/** The compaction of another process with these scripts. */
const compactionWith = (script: RunScript) =>
  createCompaction({ redis, keys: createKeys('echelon'), run: script } as StoreContext);

const valueAt = (step: number) => Math.sin(step) * step;

async function record(lease: Lease, from: number, to: number, names = ['x']): Promise<void> {
  for (let first = from; first < to; first += 500) {
    const events = Array.from({ length: Math.min(500, to - first) }, (_, at): NumberedEvent => {
      const values = Object.fromEntries(names.map((name, index) => [name, valueAt(first + at + index)]));
      return { sequence: first + at + 1, at, event: { type: 'metrics', step: first + at, values } };
    });
    await store.events.append(lease, events);
  }
}

/** Every recorded value. */
async function valuesOf(id: string, names = ['x']): Promise<number[][]> {
  const found: number[][] = names.map(() => []);
  for (let from = 0; ; from += 1000) {
    const series = await store.metrics.series(id, { names, from, to: from + 999, resolution: 1000 });
    if (series.every((points) => points.length === 0)) return found;
    for (const [at, points] of series.entries()) found[at]!.push(...points.map(({ first }) => Number(first)));
  }
}

const expected = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => valueAt(from + at));

describe('compaction of metric series', () => {
  test('preserves every value to the bit, and charts at every resolution', async () => {
    const lease = await running(store);
    const names = ['x', 'y', 'z'];
    const charts = async () =>
      await Promise.all(
        [1, 30, 500].map((resolution) => store.metrics.series(lease.experiment, { names, resolution })),
      );
    let recorded = 0;
    for (const length of [100, 2000, 70, 4000]) {
      await record(lease, recorded, recorded + length, names);
      recorded += length;
      const before = await charts();
      assert.equal(await store.metrics.compact(lease.experiment), true);
      assert.equal(await redis.exists(`{echelon}:x:${lease.experiment}:series:rows`), 0);
      const extremes = (all: typeof before) =>
        all[0]!.map(([point]) => [point!.count, point!.first, point!.last, point!.min, point!.max]);
      assert.deepEqual(extremes(await charts()), extremes(before));
    }
    assert.deepEqual(
      await valuesOf(lease.experiment, names),
      names.map((_, at) => expected(at, recorded + at)),
    );
    assert.equal(await store.metrics.compact(lease.experiment), false);
    // compaction.full.test.ts has the bounds at 100,000 values.
    const bytes = await redis.call(
      'MEMORY',
      'USAGE',
      `{echelon}:x:${lease.experiment}:series`,
      'SAMPLES',
      '0',
    );
    const perValue = Number(bytes) / (recorded * names.length);
    assert.ok(perValue <= 10, `${perValue} bytes of Redis for a value`);
  });

  test('separates attempts, and continues after another attempt', async () => {
    let lease = await running(store);
    await record(lease, 0, 3000);
    await store.metrics.compact(lease.experiment);
    await store.attempts.end(lease, { to: 'queued', reason: 'node lost' });
    lease = await claimed(store, lease.experiment);
    await store.attempts.confirm(lease);
    const events = Array.from({ length: 100 }, (_, at): NumberedEvent => {
      return { sequence: at + 1, at, event: { type: 'metrics', step: 1500 + at, values: { x: -at } } };
    });
    await store.events.append(lease, events);
    await store.metrics.compact(lease.experiment);
    const second = events.map((_, at) => -at);
    assert.deepEqual(await valuesOf(lease.experiment), [[...expected(0, 1500), ...second]]);
  });

  test('a process that is killed before or after the swap loses and repeats nothing', async () => {
    const lease = await running(store);
    await record(lease, 0, 1500);
    await store.metrics.compact(lease.experiment);
    await record(lease, 1500, 2200);
    const killed = new Error('killed');
    const before: RunScript = Object.assign(() => Promise.reject(killed), { bytes: run.bytes });
    await assert.rejects(compactionWith(before).compact(lease.experiment), killed);
    assert.deepEqual(await valuesOf(lease.experiment), [expected(0, 2200)]);
    const afterwards: RunScript = Object.assign(
      async (...call: Parameters<RunScript>) => {
        await run(...call);
        throw killed;
      },
      { bytes: run.bytes },
    );
    await assert.rejects(compactionWith(afterwards).compact(lease.experiment), killed);
    assert.deepEqual(await valuesOf(lease.experiment), [expected(0, 2200)]);
    await record(lease, 2200, 2300);
    await store.metrics.compact(lease.experiment);
    assert.deepEqual(await valuesOf(lease.experiment), [expected(0, 2300)]);
  });

  // Fails without the revision in compact-series.lua: the rows of the second process would be compacted twice.
  test('two processes that compact at once, and appends meanwhile, lose and repeat nothing', async () => {
    const lease = await running(store);
    await record(lease, 0, 800);
    const slow: RunScript = Object.assign(
      async (...call: Parameters<RunScript>) => {
        assert.equal(await store.metrics.compact(lease.experiment), true);
        await record(lease, 800, 1700);
        return await run(...call);
      },
      { bytes: run.bytes },
    );
    assert.equal(await compactionWith(slow).compact(lease.experiment), false);
    assert.deepEqual(await valuesOf(lease.experiment), [expected(0, 1700)]);
    const all = await Promise.all([
      record(lease, 1700, 4000),
      ...Array.from({ length: 5 }, () => store.metrics.compact(lease.experiment)),
    ]);
    assert.equal(all.length, 6);
    assert.deepEqual(await valuesOf(lease.experiment), [expected(0, 4000)]);
  });

  test('compaction of metric series is due once many values have come, and no more when the experiment is deleted', async () => {
    await store.metrics.takeDue(1000);
    const lease = await running(store);
    await record(lease, 0, 500);
    assert.deepEqual(await store.metrics.takeDue(10), []);
    await record(lease, 500, 900);
    assert.deepEqual(await store.metrics.takeDue(10), [lease.experiment]);
    assert.deepEqual(await store.metrics.takeDue(10), []);
    // The dispatcher that took it was lost: it is due again with the next values.
    await record(lease, 900, 901);
    await store.attempts.end(lease, { to: 'failed', reason: 'exit code 1' });
    assert.equal(await store.experiments.delete(lease.experiment), 'deleted');
    assert.deepEqual(await store.metrics.takeDue(10), []);
    assert.equal(await store.metrics.compact(lease.experiment), false);
  });

  test('compaction of metric series is refused once the archive has the series', async () => {
    const lease = await running(store);
    await record(lease, 0, 900);
    await store.attempts.end(lease, { to: 'succeeded', reason: 'done' });
    await store.rules.dropSignals(lease.experiment);
    const late: RunScript = Object.assign(
      async (...call: Parameters<RunScript>) => {
        assert.equal(await store.archive.archiveStream(lease.experiment), 'archived');
        return await run(...call);
      },
      { bytes: run.bytes },
    );
    assert.equal(await compactionWith(late).compact(lease.experiment), false);
    assert.deepEqual(await valuesOf(lease.experiment), [expected(0, 900)]);
  });
});
