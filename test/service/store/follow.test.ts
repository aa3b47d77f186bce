import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { NumberedEvent, StreamEntry } from '../../../src/core/events.ts';
import { entryId } from '../../../src/core/ids.ts';
import type { Lease } from '../../../src/store/attempts/types.ts';
import type { WakeTopic } from '../../../src/store/redis/wake-hub.ts';
import type { Store } from '../../../src/store/store.ts';
import { until } from '../../support/dispatch.ts';
import { coded, running, storeFor, submitInput } from '../../support/store.ts';

/** No follower of these tests is helped by looking again after a while: wake-ups alone must do. */
const limits = { followPollMs: 1e9 };
const GIVE_UP_MS = 60_000;

function log(sequence: number): NumberedEvent {
  return {
    sequence,
    at: 0,
    event: { type: 'log', source: 'stdout', lines: [String(sequence)], cutBytes: 0 },
  };
}

/** Collects what a follower is sent; `reached(n)` waits for the n-th. */
function collect(store: Store, id: string, after?: string) {
  const controller = new AbortController();
  const got: StreamEntry[] = [];
  const waiters: { count: number; resolve: () => void }[] = [];
  const done = (async () => {
    const signal = AbortSignal.any([controller.signal, AbortSignal.timeout(GIVE_UP_MS)]);
    for await (const entry of store.events.follow(id, after, signal)) {
      got.push(entry);
      for (const waiter of waiters) if (got.length >= waiter.count) waiter.resolve();
    }
  })();
  return {
    got,
    done,
    abort: () => controller.abort(),
    async reached(count: number): Promise<void> {
      if (got.length >= count) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiters.push({ count, resolve });
      await Promise.race([promise, done]);
      assert.ok(got.length >= count, `only ${got.length} of ${count} entries came`);
    },
  };
}

describe('follow', () => {
  /* Seen to fail if the waker forgets a wake-up before the wait. */
  test('sends each entry once and in order, from any place, while they arise', async (t) => {
    const { store } = await storeFor(t, { limits });
    const lease = await running(store);
    const followers = [collect(store, lease.experiment), collect(store, lease.experiment, '1-0')];
    const late: ReturnType<typeof collect>[] = [];
    for (let n = 1; n <= 300; n++) {
      await store.events.append(lease, [log(n)]);
      if (n % 100 === 0) late.push(collect(store, lease.experiment, entryId(1, n - 50)));
    }
    await store.events.append(lease, [
      {
        sequence: 301,
        at: 0,
        event: { type: 'ended', cause: 'succeeded', exitCode: 0, signal: 0, message: '', lastLines: [] },
      },
    ]);
    await store.attempts.end(lease, { to: 'succeeded', reason: 'done' });
    const all = await store.events.read(lease.experiment, undefined, 1e6);
    for (const follower of [...followers, ...late]) {
      await follower.done;
      const from = all.findIndex((entry) => entry.id === follower.got[0]?.id);
      assert.deepEqual(follower.got, all.slice(from));
    }
    assert.equal(followers[0]?.got.length, all.length);
    assert.equal(followers[1]?.got.length, all.length - 2);
    assert.deepEqual(
      late.map((follower) => follower.got[0]?.id),
      [51, 151, 251].map((n) => entryId(1, n)),
    );
  });

  /* Seen to fail with a connection per followed experiment, and where append.lua does not publish. */
  test('shares one connection among all followers of a process', async (t) => {
    const { store, redis } = await storeFor(t, { limits });
    const leases: Lease[] = [];
    for (let n = 0; n < 10; n++) leases.push(await running(store));
    const clients = async () => ((await redis.client('LIST')) as string).trim().split('\n').length;
    const before = await clients();
    const followers = leases.flatMap((lease) => [1, 2, 3].map(() => collect(store, lease.experiment)));
    await Promise.all(followers.map((follower) => follower.reached(3)));
    for (let n = 1; n <= 5; n++) {
      for (const lease of leases) await store.events.append(lease, [log(n)]);
      await Promise.all(followers.map((follower) => follower.reached(3 + n)));
    }
    assert.equal(await clients(), before + 1);
    for (const follower of followers) follower.abort();
    await Promise.all(followers.map((follower) => follower.done));
    assert.deepEqual(await redis.pubsub('CHANNELS'), []);
  });

  /* Seen to fail where the hub does not wake its listeners when its connection is back. */
  test('misses nothing while its connection for wake-ups is cut', async (t) => {
    const { store, redis } = await storeFor(t, { limits });
    const lease = await running(store);
    const follower = collect(store, lease.experiment);
    for (let n = 1; n <= 5; n++) {
      await store.events.append(lease, [log(n)]);
      await follower.reached(3 + n);
    }
    for (let n = 6; n <= 10; n++) {
      // One connection sends both, so there is no subscription when the event is published.
      await Promise.all([
        redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub'),
        store.events.append(lease, [log(n)]),
      ]);
      await follower.reached(3 + n);
    }
    follower.abort();
    await follower.done;
  });

  test('continues after a restart of the server', async (t) => {
    const { store, server } = await storeFor(t, { limits });
    const lease = await running(store);
    const follower = collect(store, lease.experiment);
    await follower.reached(3);
    await store.events.append(lease, [log(1)]);
    await follower.reached(4);
    await server.restart();
    await store.events.append(lease, [log(2), log(3)]);
    await follower.reached(6);
    follower.abort();
    await follower.done;
    assert.deepEqual(
      follower.got.slice(3).map((entry) => entry.id),
      [1, 2, 3].map((n) => entryId(1, n)),
    );
  });

  /* Seen to fail where the follower ends as soon as it sees that the experiment is over. */
  test('sends entries that arise between the last read of the stream and the read of the state', async (t) => {
    const { store, redis } = await storeFor(t, { limits });
    const lease = await running(store);
    const look = redis.hmget.bind(redis) as (...args: unknown[]) => Promise<(string | null)[]>;
    let looks = 0;
    redis.hmget = (async (...args: unknown[]) => {
      if (++looks === 2) {
        await store.events.append(lease, [log(1)]);
        await store.attempts.end(lease, { to: 'failed', reason: 'over' });
      }
      return await look(...args);
    }) as typeof redis.hmget;
    const follower = collect(store, lease.experiment);
    await follower.done;
    assert.deepEqual(follower.got, await store.events.read(lease.experiment, undefined, 100));
    assert.equal(follower.got.length, 5);
  });

  test('stays until the last report of a final experiment, then ends', async (t) => {
    const { store } = await storeFor(t, { limits });
    const lease = await running(store);
    const digest = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
    const part = { type: 'batch', step: 1, batch: 1, index: 0, count: 1, rows: 1, digest, bytes: 0 } as const;
    await store.events.append(lease, [{ sequence: 1, at: 0, event: part, data: new Uint8Array() }]);
    await store.attempts.end(lease, { to: 'succeeded', reason: '' });
    const follower = collect(store, lease.experiment);
    await follower.reached(5);
    const [record] = await store.batches.takePending(1, { holder: 'verifier-1', leaseMs: 60_000 });
    assert.deepEqual(await store.batches.bytes(record!), Buffer.alloc(0));
    await store.batches.report(
      record!,
      {
        type: 'verification',
        attempt: 1,
        batch: 1,
        step: 1,
        rows: 1,
        exact: 1,
        rounding: 0,
        wrong: 0,
        unverifiable: 0,
        errors: [],
        ok: true,
      },
      {},
    );
    await follower.done;
    assert.equal(follower.got.at(-1)?.event.type, 'verification');
  });

  test('follow refuses what does not exist, and ends when the store closes or the caller aborts', async (t) => {
    const { store } = await storeFor(t, { limits });
    const { signal } = new AbortController();
    const first = (id: string, after?: string) =>
      store.events.follow(id, after, signal)[Symbol.asyncIterator]().next();
    await assert.rejects(first('exp-00000000000000000000'), coded('not-found'));
    const { id } = await store.experiments.submit(submitInput());
    await assert.rejects(async () => first(id, 'x'), coded('invalid-cursor'));
    await assert.rejects(store.events.read(id, '1-1 COUNT 5', 5), coded('invalid-cursor'));
    const aborted = collect(store, id);
    const closed = collect(store, id);
    await Promise.all([aborted.reached(1), closed.reached(1)]);
    aborted.abort();
    await aborted.done;
    await store.close();
    await closed.done;
  });

  /* Seen to fail where a hub keeps one listener of a channel only, and where `wake` publishes nothing. */
  test('wake-ups reach every listener of every process', async (t) => {
    const one = await storeFor(t);
    const two = await storeFor(t, { server: one.server });
    // Topics that there are not: a listener is called with all that there are whenever it may have missed some.
    const marks = ['first mark', 'second mark'] as unknown as WakeTopic[];
    const listeners = await Promise.all([one, two, two].map(({ store }) => listening(store, marks)));
    for (const mark of marks) await one.store.wake(mark);
    for (const listener of listeners) assert.deepEqual(await listener.heard, marks);
    for (const listener of listeners) await listener.stop();
    await until(
      async () => ((await one.redis.pubsub('CHANNELS')) as string[]).length === 0,
      'no listener is left',
    );
  });
});

/** What of `marks` a new listener hears, until it has heard the last of them or time is up. */
async function listening(store: Store, marks: readonly WakeTopic[]) {
  const topics: WakeTopic[] = [];
  const all = Promise.withResolvers<void>();
  const stop = await store.onWake((topic) => {
    if (marks.includes(topic)) topics.push(topic);
    if (topic === marks.at(-1)) all.resolve();
  });
  const heard = Promise.race([all.promise, delay(GIVE_UP_MS, undefined, { ref: false })]).then(() => topics);
  return { heard, stop };
}
