import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { EchelonError } from '../../../src/core/errors.ts';
import type { NumberedEvent } from '../../../src/core/events.ts';
import { entryId, parseEntryId } from '../../../src/core/ids.ts';
import { createKeys } from '../../../src/store/redis/keys.ts';
import { type RedisServer, startRedis } from '../../support/redis.ts';
import { claimed, coded, running, storeFor } from '../../support/store.ts';

const keys = createKeys('echelon');

/** Event `n` of the source: what it says is a function of its number, so that the stream can be checked. */
function sourceEvent(n: number): NumberedEvent {
  if (n % 3 === 0) {
    return {
      sequence: n,
      at: n,
      event: { type: 'metrics', step: n, values: { last: n, [`m${n % 5}`]: n / 7 } },
    };
  }
  return { sequence: n, at: n, event: { type: 'log', source: 'stdout', lines: [`line ${n}`], cutBytes: 0 } };
}

describe('append', { concurrency: false }, async () => {
  const server: RedisServer = await startRedis({ appendfsync: 'no' });
  after(() => server.stop());

  /*
   * Seen to fail where append.lua does not ignore recorded events, does not refuse a gap, or does not store the
   * last number; and where chunksOf joins events that are not consecutive.
   */
  test('append takes any sequence of redeliveries, gaps and reorders as the model does', async (t) => {
    const { store } = await storeFor(t, { server, limits: { appendEvents: 4 } });
    const call = fc.array(fc.integer({ min: 1, max: 14 }), { minLength: 0, maxLength: 10 });
    const ordered = fc
      .tuple(fc.integer({ min: 1, max: 14 }), fc.integer({ min: 1, max: 9 }))
      .map(([from, size]) => Array.from({ length: size }, (_v, at) => from + at));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(call, ordered, ordered), { maxLength: 8 }), async (calls) => {
        const lease = await running(store);
        let last = 0;
        for (const numbers of calls) {
          let gap = false;
          for (const n of numbers) {
            if (n > last + 1) {
              gap = true;
              break;
            }
            last = Math.max(last, n);
          }
          const appended = store.events.append(lease, numbers.map(sourceEvent));
          if (gap) await assert.rejects(appended, coded('sequence-gap'));
          else assert.equal(await appended, last);
        }
        const recorded = await store.events.read(lease.experiment, entryId(1, 0), 100);
        const own = recorded.filter((entry) => parseEntryId(entry.id)?.fromAttempt);
        assert.deepEqual(
          own.map(({ id, at, event }) => ({ id, at, event })),
          Array.from({ length: last }, (_v, at) => ({
            id: entryId(1, at + 1),
            at: at + 1,
            event: sourceEvent(at + 1).event,
          })),
        );
        const metrics: Record<string, unknown> = {};
        for (let n = 3; n <= last; n += 3) Object.assign(metrics, { last: n, [`m${n % 5}`]: n / 7 });
        assert.deepEqual((await store.experiments.get(lease.experiment))?.progress.metrics, metrics);
        assert.equal((await store.attempts.list(lease.experiment))[0]?.lastSequence, last);
      }),
      { numRuns: 60 },
    );
  });

  /* Seen to fail where the number of an entry is formatted by tostring, which keeps 14 digits. */
  test('formats entry ids exactly at large numbers', async (t) => {
    const { store, redis } = await storeFor(t, { server });
    const lease = await running(store);
    const far = 2 ** 43 - 7;
    await redis.hset(keys.attempts(lease.experiment), '1:last', String(far));
    const events = [1, 2, 3].map((offset) => sourceEvent(far + offset));
    assert.equal(await store.events.append(lease, events), far + 3);
    assert.deepEqual(
      (await store.events.tail(lease.experiment, 3)).map((entry) => entry.id),
      [1, 2, 3].map((offset) => entryId(1, far + offset)),
    );
    await store.experiments.cancel(lease.experiment, 'to add an entry of the controller');
    const [added] = await store.events.tail(lease.experiment, 1);
    assert.deepEqual(parseEntryId(added!.id), { attempt: 1, sequence: far + 3, fromAttempt: false });
    assert.equal(added!.id, `1-${(BigInt(far + 3) << 20n) + 1n}`);
    assert.equal((await store.attempts.list(lease.experiment))[0]?.lastSequence, far + 3);
  });

  /* Seen to fail where append.lua does not compare the token, the attempt, or the state. */
  test('append refuses every write of a holder that was frozen while another took over', async (t) => {
    const first = await storeFor(t, { server });
    const second = await storeFor(t, { server });
    const frozen = await running(first.store, { leaseMs: 60_000 });
    await first.store.events.append(frozen, [sourceEvent(1)]);
    await first.redis.zadd(keys.leases, 1, frozen.experiment); // its lease ran out long ago
    const [taken] = await second.store.attempts.takeOver({ dispatcher: 'd2', leaseMs: 60_000, limit: 10 });
    assert.equal(taken?.lease.attempt, 1);
    assert.equal(taken.confirmed, true);
    assert.equal(taken.lastSequence, 1);

    const before = await first.store.events.read(frozen.experiment, undefined, 100);
    await assert.rejects(first.store.events.append(frozen, [sourceEvent(2)]), coded('lease-lost'));
    await assert.rejects(first.store.attempts.confirm(frozen), coded('lease-lost'));
    await assert.rejects(first.store.attempts.end(frozen, { to: 'failed', reason: '' }), coded('lease-lost'));
    assert.equal((await first.store.attempts.renew([frozen], 60_000))[0]?.status, 'lost');
    await first.store.attempts.release([frozen]);
    assert.deepEqual(await first.store.events.read(frozen.experiment, undefined, 100), before);
    assert.equal((await second.store.attempts.renew([taken.lease], 60_000))[0]?.status, 'held');
    assert.deepEqual(await second.store.attempts.takeOver({ dispatcher: 'd3', leaseMs: 1, limit: 10 }), []);
    assert.equal(await second.store.events.append(taken.lease, [sourceEvent(2)]), 2);

    // The same token in another attempt is no lease either.
    const other = { ...taken.lease, attempt: 2 };
    await assert.rejects(second.store.events.append(other, [sourceEvent(1)]), coded('lease-lost'));
    // Neither is that of an attempt that is over, in the line or in the next attempt.
    await second.store.attempts.end(taken.lease, { to: 'queued', reason: 'node lost' });
    await assert.rejects(second.store.events.append(taken.lease, [sourceEvent(3)]), coded('lease-lost'));
    const next = await claimed(second.store, frozen.experiment);
    assert.equal(next.attempt, 2);
    await assert.rejects(second.store.events.append(taken.lease, [sourceEvent(3)]), coded('lease-lost'));
    assert.equal(await second.store.events.append(next, [sourceEvent(1)]), 1);
  });

  test('append keeps what arrived before a gap, and says what it expects', async (t) => {
    const { store } = await storeFor(t, { server });
    const lease = await running(store);
    await assert.rejects(store.events.append(lease, [1, 2, 4].map(sourceEvent)), (error) => {
      assert.ok(error instanceof EchelonError && error.code === 'sequence-gap');
      assert.match(error.message, /^Event 3 .* before event 4$/);
      return true;
    });
    assert.equal(await store.events.append(lease, []), 2);
  });

  test('bounds the names of metrics in the progress, not in the events', async (t) => {
    const { store } = await storeFor(t, { server, limits: { metricNames: 3 } });
    const lease = await running(store);
    const metrics = (sequence: number, values: Record<string, number>): NumberedEvent => ({
      sequence,
      at: 0,
      event: { type: 'metrics', step: sequence, values },
    });
    await store.events.append(lease, [metrics(1, { a: 1, b: 2 })]);
    await store.events.append(lease, [metrics(2, { c: 3, d: 4, a: 5 }), metrics(3, { b: 6 })]);
    const progress = (await store.experiments.get(lease.experiment))?.progress;
    assert.deepEqual(Object.keys(progress?.metrics ?? {}).length, 3);
    assert.equal(progress?.metrics.b, 6);
    assert.deepEqual(
      (await store.events.tail(lease.experiment, 2))[0]?.event,
      metrics(2, { c: 3, d: 4, a: 5 }).event,
    );
  });

  test('append takes a name that JavaScript gives a meaning to as a name', async (t) => {
    const { store } = await storeFor(t, { server });
    const lease = await running(store);
    const values = JSON.parse('{"__proto__": 1, "constructor": 2}') as Record<string, number>;
    await store.events.append(lease, [{ sequence: 1, at: 0, event: { type: 'metrics', step: 1, values } }]);
    const metrics = (await store.experiments.get(lease.experiment))?.progress.metrics;
    assert.deepEqual(Object.entries(metrics ?? {}).sort(), [
      ['__proto__', 1],
      ['constructor', 2],
    ]);
  });
});
