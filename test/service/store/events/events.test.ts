import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NumberedEvent } from '../../../../src/core/events.ts';
import type { Lease } from '../../../../src/store/attempts/types.ts';
import type { Store } from '../../../../src/store/store.ts';
import { running, storeFor } from '../../../support/store.ts';

test('read and tail give the same entries in pieces of any size', async (t) => {
  const { store } = await storeFor(t, { limits: { pageEntries: 4 } });
  const lease = await running(store);
  const events = Array.from(
    { length: 20 },
    (_v, at): NumberedEvent => ({
      sequence: at + 1,
      at: at * 10,
      event: { type: 'log', source: 'stdout', lines: [`é ${at}\u0000"`], cutBytes: 0 },
    }),
  );
  await store.events.append(lease, events);
  const all = await store.events.read(lease.experiment, undefined, 1000);
  assert.equal(all.length, 23);
  assert.deepEqual(all[5]?.event, { type: 'log', source: 'stdout', lines: ['é 2\u0000"'], cutBytes: 0 });
  for (const size of [1, 3, 4, 5, 22, 23, 24]) {
    const pieces = [];
    for (let after: string | undefined; ; after = pieces.at(-1)?.id) {
      const piece = await store.events.read(lease.experiment, after, size);
      assert.ok(piece.length <= size);
      if (piece.length === 0) break;
      pieces.push(...piece);
    }
    assert.deepEqual(pieces, all);
    assert.deepEqual(await store.events.tail(lease.experiment, size), all.slice(-size));
  }
  assert.deepEqual(await store.events.tail(lease.experiment, 0), []);
  assert.deepEqual(await store.events.read(lease.experiment, undefined, 0), []);
  assert.deepEqual(await store.events.read('exp-00000000000000000000', undefined, 5), []);
});

test('reading a stream does not carry the bytes of its batches', async (t) => {
  const { store, redis } = await storeFor(t);
  const lease = await running(store);
  const data = Buffer.alloc(60_000, 1);
  const part = {
    type: 'batch',
    step: 1,
    index: 0,
    count: 1,
    rows: 1,
    digest: 'd',
    bytes: data.length,
  } as const;
  const events = Array.from({ length: 20 }, (_v, at) => ({
    sequence: at + 1,
    at: 0,
    event: { ...part, batch: at + 1 },
    data,
  }));
  await store.events.append(lease, events);
  const sent = async () => Number(/total_net_output_bytes:(\d+)/.exec(await redis.info('stats'))?.[1]);
  const before = await sent();
  assert.equal((await store.events.read(lease.experiment, undefined, 100)).length, 23);
  assert.ok((await sent()) - before < 60_000);
});

const PART = { type: 'batch', step: 1, batch: 1, count: 100, rows: 1, digest: 'd', bytes: 60_000 } as const;

/** The first parts of a batch that is never complete: 5 MB in the stream. */
async function withParts(store: Store): Promise<Lease> {
  const lease = await running(store);
  const data = Buffer.alloc(PART.bytes, 1);
  const events = Array.from({ length: 85 }, (_v, at) => ({
    sequence: at + 1,
    at: 0,
    data,
    event: { ...PART, index: at },
  }));
  await store.events.append(lease, events);
  return lease;
}

// Fails if one step reads the whole page: the server copies 5 MB and serves no other client for 10 ms.
test('a page with long parts is read in short steps', async (t) => {
  const { store, redis } = await storeFor(t);
  const { experiment } = await withParts(store);
  const steps = async () => Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1]);
  const all = await store.events.read(experiment, undefined, 128);
  for (const look of [
    () => store.events.read(experiment, undefined, 128),
    () => store.events.tail(experiment, 128),
  ]) {
    const before = await steps();
    assert.deepEqual(await look(), all);
    assert.ok((await steps()) - before >= 4);
  }
  assert.equal(all.length, 88);
  const page = await store.rules.readSignals(experiment, 128);
  assert.ok(page.more && page.entries.length < 30, `${page.entries.length} entries`);
  const followed: string[] = [];
  for await (const { id } of store.events.follow(experiment, undefined, AbortSignal.timeout(20_000))) {
    if (followed.push(id) === all.length) break;
  }
  assert.deepEqual(
    followed,
    all.map(({ id }) => id),
  );
});

// Fails if the steps of a page disagree on their position: the newest entry would come twice.
test('a stream that is archived while its end is read is returned once', async (t) => {
  const { store, redis } = await storeFor(t);
  const lease = await withParts(store);
  await store.attempts.end(lease, { to: 'failed', reason: 'exit code' });
  const all = await store.events.read(lease.experiment, undefined, 128);
  const commands = redis as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const read = commands['echelon:readBuffer']!.bind(redis);
  let steps = 0;
  commands['echelon:readBuffer'] = async (...args) => {
    const reply = await read(...args);
    if (++steps === 2) assert.equal(await store.archive.archiveStream(lease.experiment), 'archived');
    return reply;
  };
  assert.deepEqual(await store.events.tail(lease.experiment, 80), all.slice(-80));
  assert.ok(steps > 2);
});

/* Seen to fail where a follower looks again behind a page that was not full. */
test('a follower reads once for each wake-up', async (t) => {
  const { store, redis } = await storeFor(t, { limits: { followPollMs: 1e9 } });
  const lease = await running(store);
  const stop = new AbortController();
  const follower = store.events.follow(lease.experiment, undefined, stop.signal)[Symbol.asyncIterator]();
  for (let before = 0; before < 3; before++) await follower.next();
  const reads = async () => Number(/cmdstat_xrange:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1]);
  const log: NumberedEvent['event'] = { type: 'log', source: 'stdout', lines: ['one'], cutBytes: 0 };
  const before = await reads();
  for (let sequence = 1; sequence <= 20; sequence++) {
    const next = follower.next();
    await store.events.append(lease, [{ sequence, at: 0, event: log }]);
    await next;
  }
  // Its subscription, when it came to be, may have woken it once too.
  assert.ok((await reads()) - before <= 21);
  stop.abort();
  await follower.return?.();
});
