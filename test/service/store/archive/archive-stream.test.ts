import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { EchelonError } from '../../../../src/core/errors.ts';
import type { ControllerEvent, NumberedEvent, StreamEntry } from '../../../../src/core/events.ts';
import type { Archive } from '../../../../src/store/archive/archive.ts';
import { createKeys } from '../../../../src/store/redis/keys.ts';
import type { Store } from '../../../../src/store/store.ts';
import { allBatches } from '../../../support/batches.ts';
import { archiveFor, running, type Scope, storeFor, submitInput } from '../../../support/store.ts';

const keys = createKeys('echelon');
const NOW = { limit: 10, leaseMs: 60_000, afterMs: 0 };

function batchEvents(first: number, batch: number, parts: readonly Buffer[]): NumberedEvent[] {
  const digest = createHash('sha256').update(Buffer.concat(parts)).digest('hex');
  return parts.map((data, index) => ({
    sequence: first + index,
    at: 1000 + first,
    event: {
      type: 'batch',
      step: batch,
      batch,
      index,
      count: parts.length,
      rows: 3,
      digest,
      bytes: data.length,
    },
    data,
  }));
}

function verificationOf(batch: number): Extract<ControllerEvent, { type: 'verification' }> {
  const counts = { rows: 3, exact: 3, rounding: 0, wrong: 0, unverifiable: 0 };
  return { type: 'verification', attempt: 1, batch, step: batch, ...counts, errors: [], ok: true };
}

const log = (sequence: number): NumberedEvent => ({
  sequence,
  at: sequence,
  event: { type: 'log', source: 'stdout', lines: [`é ${sequence}\u0000"`], cutBytes: 0 },
});

const SHORT = Buffer.from('a part in the stream');
const LONG = Buffer.alloc(300, 'a part in the archive ');

/** A finished experiment with logs, two batches of several parts and their reports. */
async function finished(store: Store): Promise<string> {
  const lease = await running(store);
  await store.events.append(lease, [
    ...[1, 2, 3, 4, 5, 6].map(log),
    ...batchEvents(7, 1, [SHORT, LONG]),
    ...batchEvents(9, 2, [LONG, SHORT, SHORT]),
    log(12),
    { sequence: 13, at: 13, event: { type: 'metrics', step: 1, values: { 'a b/c': 0.1 + 0.2, x: 'NaN' } } },
  ]);
  await store.attempts.end(lease, { to: 'succeeded', reason: 'exit code 0' });
  for (const record of await store.batches.takePending(5, { holder: 'verifier-1', leaseMs: 60_000 })) {
    await store.batches.report(record, verificationOf(record.batch), { ok: true });
  }
  await store.rules.dropSignals(lease.experiment); // as the rules do once they have seen it
  return lease.experiment;
}

/** Everything that can be asked of a stream. */
async function everything(store: Store, id: string): Promise<unknown> {
  const all = await store.events.read(id, undefined, 1000);
  const followed: StreamEntry[] = [];
  for await (const entry of store.events.follow(id, undefined, AbortSignal.timeout(20_000)))
    followed.push(entry);
  const pieces: StreamEntry[][] = [];
  for (const size of [1, 2, 3, 5, all.length, all.length + 1]) {
    const piece: StreamEntry[] = [];
    for (let more = true; more; ) {
      const page = await store.events.read(id, piece.at(-1)?.id, size);
      piece.push(...page);
      more = page.length > 0;
    }
    pieces.push(piece, await store.events.tail(id, size));
  }
  const from = await Promise.all(all.map(({ id: after }) => store.events.read(id, after, 1000)));
  const bytes = await Promise.all((await allBatches(store, id)).map((record) => store.batches.bytes(record)));
  return { all, followed, pieces, from, bytes: bytes.map((one) => Buffer.from(one)) };
}

async function small(t: Scope, archive?: Archive) {
  return await storeFor(t, { limits: { inlineBytes: 256, pageEntries: 4 }, ...(archive && { archive }) });
}

describe('a finished stream in the archive', () => {
  test('a finished stream in the archive reads, tails, follows and gives its batches as it did from Redis', async (t) => {
    const { store, redis } = await small(t);
    const id = await finished(store);
    const before = await everything(store, id);
    assert.deepEqual(await store.archive.take(NOW), [id]);
    assert.equal(await store.archive.archiveStream(id), 'archived');
    assert.equal(await redis.xlen(keys.events(id)), 0);
    assert.deepEqual(await everything(store, id), before);
    assert.deepEqual(await store.archive.take({ ...NOW, leaseMs: -120_000 }), []);
    assert.equal(await store.archive.archiveStream(id), 'archived'); // once more changes nothing
    assert.deepEqual(await everything(store, id), before);
  });

  /* Fails where the stream is deleted instead of emptied: its next id would then come before the archived ones. */
  test('later entries come after the archived ones and can be archived too', async (t) => {
    const { store, redis } = await small(t);
    const id = await finished(store);
    await store.archive.archiveStream(id);
    const all = await store.events.read(id, undefined, 1000);
    await redis.xadd(keys.events(id), '1-*', 't', 'log', 'a', '5', 'd', '{"type":"log"}');
    for (let rounds = 0; rounds < 2; rounds++) {
      const more = await store.events.read(id, undefined, 1000);
      assert.deepEqual(more.slice(0, -1), all);
      assert.equal(more.length, all.length + 1);
      assert.deepEqual(await store.events.read(id, all.at(-1)!.id, 5), more.slice(-1));
      assert.deepEqual(await store.events.tail(id, 3), more.slice(-3));
      await store.archive.archiveStream(id);
    }
    assert.equal(await redis.xlen(keys.events(id)), 0);
  });

  /* Fails without the comparison of the last id, and of the count, in archive-stream.lua. */
  test('an entry that is added while the stream is read is not lost', async (t) => {
    const directory = await archiveFor(t);
    let left = 0;
    const archive: Archive = {
      ...directory,
      async put(owner, digest, bytes) {
        await directory.put(owner, digest, bytes);
        if (left-- > 0) await redis.xadd(keys.events(owner), '1-*', 't', 'log', 'a', '5', 'd', '{}');
      },
    };
    const { store, redis } = await small(t, archive);
    const id = await finished(store);
    const count = (await store.events.read(id, undefined, 1000)).length;
    left = 3; // the series is archived before the stream is read, entries and parts after that
    assert.equal(await store.archive.archiveStream(id), 'archived');
    assert.equal((await store.events.read(id, undefined, 1000)).length, count + 3);
    assert.equal(await redis.xlen(keys.events(id)), 0);
  });

  test('a crash on the way leaves the stream readable, and another process finishes', async (t) => {
    const directory = await archiveFor(t);
    let left = 3;
    const archive: Archive = {
      ...directory,
      async put(...args) {
        if (left-- <= 0) throw new EchelonError('store-unavailable', 'the power is off');
        await directory.put(...args);
      },
    };
    const { store } = await small(t, archive);
    const id = await finished(store);
    const before = await everything(store, id);
    await assert.rejects(store.archive.archiveStream(id), /the power is off/);
    assert.deepEqual(await everything(store, id), before);
    left = 100;
    assert.deepEqual(await Promise.all([store.archive.archiveStream(id), store.archive.archiveStream(id)]), [
      'archived',
      'archived',
    ]);
    assert.deepEqual(await everything(store, id), before);
  });

  test('a reader in the middle of a batch continues in the archive', async (t) => {
    const { store } = await small(t);
    const lease = await running(store);
    const parts = Array.from({ length: 40 }, (_v, at) => Buffer.from(`part ${at}`));
    await store.events.append(lease, batchEvents(1, 1, parts));
    await store.attempts.end(lease, { to: 'succeeded', reason: 'exit code 0' });
    const [record] = await store.batches.takePending(1, { holder: 'verifier-1', leaseMs: 60_000 });
    await store.batches.report(record!, verificationOf(1), {});
    await store.rules.dropSignals(lease.experiment);
    const [bytes] = await Promise.all([
      store.batches.bytes(record!),
      store.archive.archiveStream(lease.experiment),
    ]);
    assert.deepEqual(Buffer.from(bytes), Buffer.concat(parts));
  });
});

describe('a long live stream', () => {
  const LIVE = 24 * 1024;
  const lines = (sequence: number): NumberedEvent => ({
    sequence,
    at: sequence,
    event: { type: 'log', source: 'stdout', lines: [`line ${sequence} ${'x'.repeat(400)}`], cutBytes: 0 },
  });

  /** One that runs and has reported logs, with a batch whose parts lie far apart; its batch has no report yet. */
  async function long(t: Scope, archive?: Archive) {
    const limits = { liveBytes: LIVE, inlineBytes: 256, pageEntries: 4 };
    const all = await storeFor(t, { limits, ...(archive && { archive }) });
    const lease = await running(all.store);
    const parts = batchEvents(0, 1, [LONG, SHORT, SHORT]).map(({ event, data }, at) => ({
      sequence: 10 + at * 90,
      at: 1,
      event,
      ...(data && { data }),
    }));
    const events = Array.from({ length: 200 }, (_v, at) => lines(at + 1));
    for (const part of parts) events[part.sequence - 1] = part;
    await all.store.events.append(lease, events);
    await all.store.rules.dropSignals(lease.experiment);
    return { ...all, lease, id: lease.experiment };
  }

  async function seen(store: Store, id: string) {
    const all = await store.events.read(id, undefined, 1000);
    const following = await Promise.all(all.map(({ id: after }) => store.events.read(id, after, 1000)));
    const tails = await Promise.all([1, 5, 50, 150, 1000].map((size) => store.events.tail(id, size)));
    const bytes = await Promise.all(
      (await allBatches(store, id)).map((record) => store.batches.bytes(record)),
    );
    return { all, following, tails, bytes: bytes.map((one) => Buffer.from(one)) };
  }

  /* Fails where the batch is read from the archive alone, or from the stream alone, and without the trim. */
  test('a long live stream keeps its newest entries in Redis, and reads, tails and gives its batches as before', async (t) => {
    const { store, redis, lease, id } = await long(t);
    const before = await seen(store, id);
    assert.equal(before.bytes.length, 1);
    assert.deepEqual(await store.archive.longStreams(), [id]);
    assert.ok((await store.archive.rollStream(id)) > 1);
    assert.ok(Number(await redis.memory('USAGE', keys.events(id))) <= LIVE);
    assert.ok((await redis.xlen(keys.events(id))) > 0);
    assert.deepEqual(await store.archive.longStreams(), []);
    assert.equal(await store.archive.rollStream(id), 0);
    assert.deepEqual(await seen(store, id), before);

    await store.events.append(lease, [201, 202].map(lines));
    await store.attempts.end(lease, { to: 'succeeded', reason: 'exit code 0' });
    const [record] = await store.batches.takePending(1, { holder: 'verifier-1', leaseMs: 60_000 });
    await store.batches.report(record!, verificationOf(1), { ok: true });
    await store.rules.dropSignals(id);
    const ended = await everything(store, id);
    assert.equal(await store.archive.archiveStream(id), 'archived');
    assert.equal(await redis.xlen(keys.events(id)), 0);
    assert.deepEqual(await everything(store, id), ended);
    assert.equal(await redis.hget(keys.experiment(id), 'longBytes'), String(LONG.length));
  });

  /* Fails without the look at the cursor in roll-stream.lua. */
  test('a long live stream keeps what its rules have not looked at', async (t) => {
    const { store, lease, id } = await long(t);
    const metrics = { type: 'metrics', step: 1, values: { x: 1 } } as const;
    await store.events.append(lease, [{ sequence: 201, at: 1, event: metrics }]);
    assert.equal(await store.archive.rollStream(id), 0);
    const page = await store.rules.readSignals(id, 195);
    const done = { experiment: id, cursor: page.cursor, memory: {}, due: null, fired: [], stop: null };
    await store.rules.advance({ ...done, last: page.last });
    assert.ok((await store.archive.rollStream(id)) > 0);
    const rest = await store.rules.readSignals(id, 1000);
    assert.deepEqual(
      rest.entries.map(({ event }) => event.type),
      ['metrics'],
    );
    assert.equal(rest.cursor, page.last);
  });

  /* Fails without the comparison of the index in roll-stream.lua. */
  test('moves each entry once where another does it at the same time', async (t) => {
    const directory = await archiveFor(t);
    let meanwhile: (() => Promise<unknown>) | undefined;
    const archive: Archive = {
      ...directory,
      async put(...args) {
        await directory.put(...args);
        const other = meanwhile;
        meanwhile = undefined;
        await other?.();
      },
    };
    const { store, id } = await long(t, archive);
    const before = await seen(store, id);
    meanwhile = () => store.archive.rollStream(id);
    assert.equal(await store.archive.rollStream(id), 0);
    assert.deepEqual(await seen(store, id), before);
  });

  /* Fails without `allow-oom` in the first line of roll-stream.lua. */
  test('frees memory when none is left', async (t) => {
    const { store, redis, lease, id } = await long(t);
    await redis.config('SET', 'maxmemory', '1mb');
    await assert.rejects(store.events.append(lease, [lines(201)]), { code: 'store-full' });
    assert.ok((await store.archive.rollStream(id)) > 0);
  });
});

describe('what is archived', () => {
  test('only what has ended and has all its reports, in its time', async (t) => {
    const { store } = await small(t);
    const waiting = await store.experiments.submit(submitInput());
    const lease = await running(store);
    await store.events.append(lease, batchEvents(1, 1, [SHORT]));
    assert.deepEqual(await store.archive.take(NOW), []);
    assert.equal(await store.archive.archiveStream(waiting.id), 'waiting');
    assert.equal(await store.archive.archiveStream(lease.experiment), 'waiting');
    await store.attempts.end(lease, { to: 'failed', reason: 'exit code 1' });
    assert.equal(await store.archive.archiveStream(lease.experiment), 'waiting');
    assert.deepEqual(await store.archive.take({ ...NOW, afterMs: 3_600_000 }), []);
    assert.deepEqual(await store.archive.take(NOW), [lease.experiment]);
    assert.deepEqual(await store.archive.take(NOW), []); // another has it
    assert.equal(await store.archive.archiveStream('exp-00000000000000000000'), 'gone');
    await store.experiments.cancel(waiting.id, 'cancelled');
    assert.deepEqual(await store.archive.take(NOW), [waiting.id]);
  });
});
