import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { NumberedEvent } from '../../../src/core/events.ts';
import { entryId, parseEntryId } from '../../../src/core/ids.ts';
import type { Lease } from '../../../src/store/attempts/types.ts';
import type { Store } from '../../../src/store/store.ts';
import { allBatches } from '../../support/batches.ts';
import { until } from '../../support/dispatch.ts';
import { coded, running, storeFor, submitInput } from '../../support/store.ts';

const PART = Buffer.alloc(3000, 7);
const DIGEST = createHash('sha256').update(PART).digest('hex');

/** Every fifth event is a whole batch; what is in an event follows from its number. */
function sourceEvent(n: number): NumberedEvent {
  if (n % 5 !== 0) {
    return {
      sequence: n,
      at: n,
      event: { type: 'log', source: 'stderr', lines: [`line ${n}`], cutBytes: 0 },
    };
  }
  const event = {
    type: 'batch',
    step: n,
    batch: n / 5,
    index: 0,
    count: 1,
    rows: 2,
    digest: DIGEST,
    bytes: PART.length,
  } as const;
  return { sequence: n, at: n, event, data: PART };
}

/*
 * Redis is killed in the middle of appends, over and over. The holder does what a dispatcher does: it sends on from
 * the last acknowledged number, and repeats a call that failed without an answer. Seen to fail with
 * appendonly off (acknowledged events are gone) and where append.lua records an event without counting it.
 */
test('kill -9 and restart of Redis under load: every acknowledged event is recorded once and the sequence continues', async (t) => {
  // Within these limits a call fails while the server is away, and ioredis does not send it again.
  const { store, server } = await storeFor(t, {
    redisOptions: { maxRetriesPerRequest: 0, commandTimeout: 5000 },
    limits: { appendEvents: 16 },
  });
  const lease = await running(store);
  const work = { acknowledged: 0, stopping: false, failures: 0 };
  const appending = keepAppending(store, lease, work);
  for (let kills = 0; kills < 5; kills++) {
    const goal = work.acknowledged + 150;
    await until(() => work.acknowledged >= goal, 'events are acknowledged');
    await server.restart('SIGKILL');
  }
  const goal = work.acknowledged + 50;
  await until(() => work.acknowledged >= goal, 'events are acknowledged');
  work.stopping = true;
  await appending;
  t.diagnostic(`${work.acknowledged} events, ${work.failures} calls without an answer`);

  const entries = await store.events.read(lease.experiment, entryId(1, 0), 1e6);
  const own = entries.filter((entry) => parseEntryId(entry.id)?.fromAttempt);
  assert.ok(own.length >= work.acknowledged);
  own.forEach((entry, index) => {
    const expected = sourceEvent(index + 1);
    assert.deepEqual(entry, { id: entryId(1, index + 1), at: index + 1, event: expected.event });
  });
  assert.equal((await store.attempts.list(lease.experiment))[0]?.lastSequence, own.length);
  const batches = await allBatches(store, lease.experiment);
  assert.equal(batches.length, Math.floor(own.length / 5));
  assert.equal(await store.batches.backlog(), batches.length);
  assert.equal((await store.experiments.get(lease.experiment))?.verification.rowsSeen, 2 * batches.length);
  assert.deepEqual(Buffer.from(await store.batches.bytes(batches.at(-1)!)), PART);
  assert.equal((await store.attempts.renew([lease], 60_000))[0]?.status, 'held');
});

/*
 * A kill in the middle of a write leaves the first commands of a transaction in the file. Seen to fail (16 rows) when
 * Redis repairs its file itself: it then runs these commands after the next restart, beside the repeated call.
 */
test('an append that a kill cut short in the file is counted once after two restarts', async (t) => {
  const { store, server } = await storeFor(t);
  const lease = await running(store);
  const events = Array.from({ length: 20 }, (_v, at) => sourceEvent(at + 1));
  await store.events.append(lease, events);
  await server.kill();
  const directory = join(server.dir, 'appendonlydir');
  const name = (await readdir(directory)).find((file) => file.endsWith('.incr.aof'))!;
  const file = join(directory, name);
  // The last command of append.lua that changes a number beside the stream.
  await truncate(file, (await readFile(file)).lastIndexOf('HSET'));
  await server.start();
  assert.equal((await store.attempts.list(lease.experiment))[0]?.lastSequence, 0);
  assert.equal(await store.events.append(lease, events), 20);
  await server.restart('SIGKILL');
  const { verification } = (await store.experiments.get(lease.experiment))!;
  assert.deepEqual([verification.rowsSeen, verification.batches], [8, 4]);
  assert.equal((await store.attempts.list(lease.experiment))[0]?.lastSequence, 20);
});

test('an accepted experiment survives kill -9 of Redis, and its key finds it again', async (t) => {
  const { store, server } = await storeFor(t);
  const input = submitInput({ idempotency: { name: 'k', digest: 'd' } });
  await store.experiments.submit(input);
  await server.restart('SIGKILL');
  assert.equal((await store.experiments.get(input.id))?.state, 'queued');
  const again = await store.experiments.submit({ ...submitInput(), idempotency: { name: 'k', digest: 'd' } });
  assert.deepEqual(again, { id: input.id, created: false });
  assert.deepEqual(await store.queue.ids(10), [input.id]);
});

test('a Redis that is away or hangs is said to be unavailable, and is used again when it is back', async (t) => {
  const patient = await storeFor(t);
  const { id } = await patient.store.experiments.submit(submitInput());
  const { store, server, redis } = await storeFor(t, {
    server: patient.server,
    redisOptions: { maxRetriesPerRequest: 0, commandTimeout: 500 },
  });
  server.freeze();
  await assert.rejects(store.experiments.get(id), coded('store-unavailable'));
  await assert.rejects(store.experiments.cancel(id, ''), coded('store-unavailable'));
  server.thaw();
  await server.kill();
  await assert.rejects(store.experiments.get(id), coded('store-unavailable'));
  await assert.rejects(store.experiments.submit(submitInput()), coded('store-unavailable'));
  await assert.rejects(
    store.events.append({ experiment: id, attempt: 1, token: 'x' }, []),
    coded('store-unavailable'),
  );
  // Not `once`: until the server is there each refused connection is an 'error', which would end the waiting.
  const ready = new Promise((resolve) => redis.once('ready', resolve));
  await server.start();
  await ready;
  // The cancel that got no answer was carried out or not: both are allowed, and repeating it tells.
  const cancelled = await until(
    () => store.experiments.cancel(id, '').catch(() => undefined),
    'it is used again',
  );
  assert.ok(['cancelled', 'already-final'].includes(cancelled));
});

async function keepAppending(
  store: Store,
  lease: Lease,
  work: { acknowledged: number; stopping: boolean; failures: number },
): Promise<void> {
  while (!work.stopping) {
    const events = Array.from({ length: 40 }, (_v, at) => sourceEvent(work.acknowledged + 1 + at));
    try {
      work.acknowledged = await store.events.append(lease, events);
    } catch (error) {
      assert.ok(coded('store-unavailable')(error), String(error));
      work.failures++;
      await new Promise(setImmediate);
    }
  }
}
