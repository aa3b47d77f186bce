import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { EchelonError } from '../../../../src/core/errors.ts';
import type { AttemptEvent, NumberedEvent } from '../../../../src/core/events.ts';
import type { Archive } from '../../../../src/store/archive/archive.ts';
import type { Lease } from '../../../../src/store/attempts/types.ts';
import { chunksOf } from '../../../../src/store/events/append.ts';
import { createKeys } from '../../../../src/store/redis/keys.ts';
import { allBatches } from '../../../support/batches.ts';
import { coded, running, storeFor } from '../../../support/store.ts';

const limits = { appendEvents: 5, appendBytes: 100, inlineBytes: 40 };

function part(
  sequence: number,
  data: Uint8Array,
  of = { batch: 1, index: 0, count: 1, digest: 'd' },
): NumberedEvent {
  return {
    sequence,
    at: 0,
    event: { type: 'batch', step: 1, rows: 1, bytes: data.length, ...of },
    data,
  };
}

describe('chunksOf', () => {
  test('chunksOf keeps all events in order, in consecutive chunks within the bounds', () => {
    const item = fc
      .tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 0, max: 60 }))
      .map(([n, size]) => part(n, new Uint8Array(size)));
    const run = fc
      .tuple(fc.integer({ min: 1, max: 20 }), fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 20 }))
      .map(([from, sizes]) => sizes.map((size, at) => part(from + at, new Uint8Array(size))));
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.array(item), run)), (parts) => {
        const events = parts.flat();
        const chunks = chunksOf(events, limits);
        assert.deepEqual(chunks.flat(), events);
        for (const chunk of chunks) {
          assert.ok(chunk.length > 0 && chunk.length <= limits.appendEvents);
          chunk.forEach((one, at) => {
            assert.equal(one.sequence, chunk[0]!.sequence + at);
          });
          const inline = chunk.map((one) => one.data!.length).filter((size) => size <= limits.inlineBytes);
          assert.ok(inline.reduce((sum, size) => sum + size, 0) <= limits.appendBytes);
        }
      }),
    );
  });

  test('chunksOf does not cut what fits', () => {
    assert.equal(
      chunksOf(
        [1, 2, 3, 4, 5].map((n) => part(n, new Uint8Array(20))),
        limits,
      ).length,
      1,
    );
    assert.deepEqual(chunksOf([], limits), []);
  });
});

describe('append', () => {
  test('append keeps short parts in the stream and long ones in the archive, byte for byte', async (t) => {
    const { store, redis, archive } = await storeFor(t, { limits: { inlineBytes: 256 } });
    const lease = await running(store);
    const every = Uint8Array.from({ length: 256 }, (_v, at) => at);
    const long = Buffer.concat([every, every.slice(0, 1)]);
    const digest = createHash('sha256').update(every).update(long).digest('hex');
    await store.events.append(lease, [
      part(1, every, { batch: 1, index: 0, count: 2, digest }),
      part(2, long, { batch: 1, index: 1, count: 2, digest }),
    ]);
    const key = createKeys('echelon').events(lease.experiment);
    const [first, second] = (await redis.xrangeBuffer(key, '1-1048576', '+')).map(([, fields]) => fields);
    assert.deepEqual(first?.slice(6), [Buffer.from('b'), Buffer.from(every)]);
    const name = createHash('sha256').update(long).digest('hex');
    assert.deepEqual(second?.slice(6), [Buffer.from('k'), Buffer.from(name)]);
    assert.deepEqual(await archive.get(lease.experiment, name), Buffer.from(long));
    const [record] = await allBatches(store, lease.experiment);
    assert.deepEqual(await store.batches.bytes(record!), Buffer.concat([every, long]));
  });

  /* Seen to fail where the append does not wait for the archive. */
  test('records nothing of a chunk whose bytes the archive did not take', async (t) => {
    const archive: Archive = {
      put: async () => {
        await readdir('.'); // later than a command that was already on its way
        throw new EchelonError('store-unavailable', 'the disk is full');
      },
      get: () => Promise.reject(new Error('not asked')),
      remove: () => Promise.reject(new Error('not asked')),
    };
    const { store } = await storeFor(t, { archive, limits: { inlineBytes: 1 } });
    const lease = await running(store);
    await assert.rejects(
      store.events.append(lease, [part(1, new Uint8Array(2))]),
      coded('store-unavailable'),
    );
    assert.equal(await store.events.append(lease, []), 0);
    assert.equal(await store.batches.backlog(), 0);
  });

  // Fails if the bytes of a dispatcher that was frozen for long stay in the archive forever.
  test('leaves nothing in the archive for an experiment that was deleted meanwhile', async (t) => {
    const { store, archive } = await storeFor(t, { limits: { inlineBytes: 1 } });
    const lease = await running(store);
    await store.attempts.end(lease, { to: 'failed', reason: 'its machine was lost' });
    const late = Buffer.from('two');
    const name = createHash('sha256').update(late).digest('hex');
    await assert.rejects(store.events.append(lease, [part(1, late)]), coded('lease-lost'));
    assert.deepEqual(await archive.get(lease.experiment, name), late);
    assert.equal(await store.experiments.delete(lease.experiment), 'deleted');
    assert.equal(await store.retention.collectGarbage(10), 1);
    await assert.rejects(store.events.append(lease, [part(1, late)]), coded('lease-lost'));
    assert.equal(await store.retention.collectGarbage(10), 1);
    await assert.rejects(archive.get(lease.experiment, name), coded('not-found'));
  });

  test('bounds the live stream of a log at full speed: older events move to the archive, or nothing more is taken', async (t) => {
    const limits = { liveBytes: 100_000, maxLiveBytes: 400_000 };
    const { store, redis } = await storeFor(t, { limits });
    const lease = await running(store);
    const line = 'x'.repeat(10_000);
    const event: AttemptEvent = { type: 'log', source: 'stdout', lines: [line], cutBytes: 0 };
    let longest = 0;
    for (let sequence = 1; sequence <= 200; sequence++) {
      await store.events.append(lease, [{ sequence, at: 0, event }]);
      longest = Math.max(longest, Number(await redis.hget(`{echelon}:x:${lease.experiment}`, 'streamBytes')));
    }
    assert.ok(longest > 300_000 && longest < 450_000, `${longest}`);
    const entries = await store.events.read(lease.experiment, undefined, 1000);
    assert.equal(entries.filter((entry) => entry.event.type === 'log').length, 200);

    // Rules that have not read the stream yet keep it whole.
    const metrics: AttemptEvent = { type: 'metrics', step: 1, values: { loss: 1 } };
    await store.events.append(lease, [{ sequence: 201, at: 0, event: metrics }]);
    const flood = async () => {
      for (let sequence = 202; sequence <= 300; sequence++)
        await store.events.append(lease, [{ sequence, at: 0, event }]);
    };
    await assert.rejects(flood(), coded('store-full'));
    await store.rules.dropSignals(lease.experiment);
    const [last] = await store.events.tail(lease.experiment, 1);
    const next = Number(BigInt(last!.id.split('-')[1]!) / 2n ** 20n) + 1;
    assert.equal(await store.events.append(lease, [{ sequence: next, at: 0, event }]), next);
  });

  test('counts rows that were dropped at their source as seen', async (t) => {
    const { store } = await storeFor(t);
    const lease = await running(store);
    const gap = { type: 'gap', step: 1, count: 1, bytes: 9, rows: 7, reason: 'full' } as const;
    await store.events.append(lease, [
      part(1, new Uint8Array(1)),
      { sequence: 2, at: 0, event: { ...gap, kind: 'batch' } },
      { sequence: 3, at: 0, event: { ...gap, kind: 'logs' } },
    ]);
    const counts = (await store.experiments.get(lease.experiment))?.verification;
    assert.deepEqual([counts?.rowsSeen, counts?.dropped, counts?.batches], [8, 7, 1]);
  });

  test('append takes a batch as complete only with all of its parts, in order', async (t) => {
    const { store } = await storeFor(t);
    const lease = await running(store);
    const of = (batch: number, index: number) => ({ batch, index, count: 3, digest: 'd' });
    const one = new Uint8Array(1);
    const parts = [of(1, 0), of(1, 1), of(2, 0), of(2, 1), of(2, 2), of(3, 0), of(3, 2)];
    for (const [at, place] of parts.entries()) await store.events.append(lease, [part(at + 1, one, place)]);
    const batches = await allBatches(store, lease.experiment);
    assert.deepEqual(
      batches.map(({ batch, firstEntry, lastEntry }) => ({ batch, firstEntry, lastEntry })),
      [{ batch: 2, firstEntry: `1-${3 * 2 ** 20}`, lastEntry: `1-${5 * 2 ** 20}` }],
    );
  });

  /* Seen to fail where the numbers go to the script as they are: it stops half-way, and no event is taken any more. */
  test('continues after impossible numbers', async (t) => {
    const { store } = await storeFor(t);
    const lease = await running(store);
    const odd = [Number.NaN, Number.POSITIVE_INFINITY, -1, 1.5, 2 ** 63, 1e300];
    let sequence = 0;
    for (const value of odd) {
      const of = { batch: value, index: value, count: value, digest: 'd d\n' };
      const events: AttemptEvent[] = [
        { type: 'stage', name: 's', step: value, steps: value },
        { type: 'metrics', step: value, values: { m: 1 } },
        { type: 'gap', kind: 'batch', step: value, count: value, bytes: value, rows: value, reason: '' },
        { ...part(1, new Uint8Array(1), of).event, rows: value } as AttemptEvent,
        { type: 'checkpoint', step: value, path: '' },
      ];
      for (const event of events) {
        assert.equal(await store.events.append(lease, [{ sequence: ++sequence, at: 0, event }]), sequence);
      }
    }
    const record = await store.experiments.get(lease.experiment);
    assert.ok(Number.isSafeInteger(record?.verification.rowsSeen));
    assert.ok(Number.isSafeInteger(record?.progress.step));
    for (const bad of [0, -1, 1.5, Number.NaN, 2 ** 44]) {
      await assert.rejects(
        store.events.append(lease, [part(bad, new Uint8Array(1))]),
        coded('invalid-request'),
      );
    }
  });

  test('stores little of what an older ray-worker sends without bounds, and shows what is missing', async (t) => {
    const { store, redis } = await storeFor(t);
    const leases: Lease[] = [];
    for (let at = 0; at < 8; at += 1) leases.push(await running(store));
    const values = Object.fromEntries(Array.from({ length: 150_000 }, (_v, at) => [`m${at}`, at]));
    for (const lease of leases) {
      await store.events.append(lease, [
        { sequence: 1, at: 0, event: { type: 'stage', name: 's'.repeat(3_900_000), step: 1, steps: 1 } },
        { sequence: 2, at: 0, event: { type: 'checkpoint', step: 1, path: 'c'.repeat(3_900_000) } },
      ]);
    }
    await store.events.append(leases[0]!, [
      { sequence: 3, at: 0, event: { type: 'metrics', step: 1, values } },
    ]);
    const list = await Promise.all(leases.map(({ experiment }) => store.experiments.get(experiment)));
    assert.ok(JSON.stringify(list).length < 100_000);
    const events = (await store.events.read(leases[0]!.experiment, '1-0', 10)).map(({ event }) => event);
    assert.deepEqual(
      events.map(({ type }) => type),
      ['state', 'stage', 'gap', 'metrics'],
    );
    const metrics = events.at(-1)!;
    assert.ok(metrics.type === 'metrics' && metrics.omitted === 146_000);
    const slow = (await redis.slowlog('GET', 100)) as [number, number, number][];
    assert.ok(slow.every(([, , micros]) => micros < 1_000_000));
  });
});
