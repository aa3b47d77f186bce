import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import type { ControllerEvent, NumberedEvent } from '../../../../src/core/events.ts';
import { createKeys } from '../../../../src/store/redis/keys.ts';
import { makeProjects } from '../../../support/access.ts';
import { allBatches } from '../../../support/batches.ts';
import { reportOf } from '../../../support/report.ts';
import { claimed, coded, recordBatch, running, storeFor } from '../../../support/store.ts';

const keys = createKeys('echelon');
const BYTES = Buffer.from('the bytes of a batch');
const LEASE = { holder: 'verifier-1', leaseMs: 60_000 };
const DIGEST = createHash('sha256').update(BYTES).digest('hex');

function wholeBatch(sequence: number, batch: number): NumberedEvent {
  return {
    sequence,
    at: 0,
    event: {
      type: 'batch',
      step: batch,
      batch,
      index: 0,
      count: 1,
      rows: 3,
      digest: DIGEST,
      bytes: BYTES.length,
    },
    data: BYTES,
  };
}

function verificationOf(attempt: number, batch: number): Extract<ControllerEvent, { type: 'verification' }> {
  return {
    type: 'verification',
    attempt,
    batch,
    step: batch,
    rows: 3,
    exact: 3,
    rounding: 0,
    wrong: 0,
    unverifiable: 0,
    errors: [],
    ok: true,
  };
}

describe('batches', () => {
  /* Seen to fail if take-pending.lua does not move the batches that it takes. */
  test('a batch is handed to one verifier at a time, and again when that one is late', async (t) => {
    const { store, redis } = await storeFor(t);
    const lease = await running(store);
    await store.events.append(
      lease,
      [1, 2, 3].map((n) => wholeBatch(n, n)),
    );
    const [one, two] = await Promise.all([
      store.batches.takePending(2, LEASE),
      store.batches.takePending(2, LEASE),
    ]);
    const taken = [...one, ...two].map((record) => record.batch);
    assert.deepEqual(taken, [1, 2, 3]);
    assert.deepEqual(await store.batches.takePending(5, LEASE), []);
    assert.equal(await store.batches.backlog(), 3);
    await redis.zadd(keys.pending, 1, `${lease.experiment}:1:2`);
    assert.deepEqual(
      (await store.batches.takePending(5, LEASE)).map((record) => record.batch),
      [2],
    );
  });

  /* Fails where append.lua takes the time of another batch, or of another attempt's, for the one before. */
  test('knows the GPU time since the batch before it, or since the launch', async (t) => {
    const { store, redis } = await storeFor(t);
    const lease = await running(store, { input: { gpus: 4 } });
    await redis.hset(`${keys.experiment(lease.experiment)}:attempts`, '1:confirmedAt', '1000');
    const at = (time: number, n: number) => ({ ...wholeBatch(n, n), at: time });
    await store.events.append(lease, [at(3000, 1), at(3500, 2)]);
    await store.events.append(lease, [at(9500, 3), at(9400, 4)]);
    const found = (await allBatches(store, lease.experiment)).map(({ gpuMs }) => gpuMs);
    assert.deepEqual(found, [8000, 2000, 24_000, 0]);
  });

  /* Fails where take-pending.lua counts what was taken, or hold-pending.lua notes nothing. */
  test('counts the processes that began to verify a batch and were not heard of again', async (t) => {
    const { store, redis } = await storeFor(t);
    const lease = await running(store);
    await store.events.append(lease, [wholeBatch(1, 1)]);
    const member = `${lease.experiment}:1:1`;
    const take = async (holder: string) => {
      await redis.zadd(keys.pending, 1, member);
      return (await store.batches.takePending(1, { holder, leaseMs: 60_000 }))[0]!;
    };
    assert.deepEqual(
      [(await take('a')).deaths, (await take('b')).deaths],
      [0, 0],
      'taking counts for nothing',
    );
    const record = await take('a');
    assert.equal(await store.batches.beginPending(record, { holder: 'a', leaseMs: 60_000 }), true);
    assert.equal(await store.batches.beginPending(record, { holder: 'a', leaseMs: 60_000 }), true);
    assert.deepEqual([(await take('a')).deaths, (await take('b')).deaths], [0, 1], 'its own process lives');
    await store.batches.beginPending(record, { holder: 'b', leaseMs: 60_000 });
    assert.equal((await take('c')).deaths, 2);
    await store.batches.returnPending([record], { holder: 'a', restMs: 60_000 });
    assert.deepEqual(await store.batches.takePending(1, LEASE), [], 'it rests');
    assert.equal((await take('c')).deaths, 1);
    await store.batches.returnPending([record], { holder: 'b', restMs: 0 });
    assert.equal((await store.batches.takePending(1, LEASE))[0]?.deaths, 0);
    await store.batches.beginPending(record, LEASE);
    await store.batches.report(record, verificationOf(1, 1), {});
    assert.equal(await store.batches.beginPending(record, LEASE), false, 'it has its report');
    await store.batches.renewPending([record], LEASE);
    assert.equal(await redis.exists(`${keys.pending}:begun`), 0);
    assert.equal(await store.batches.backlog(), 0);
  });

  /* Fails where hold-pending.lua does not move the end of the lease. */
  test('a batch whose lease is renewed is not handed to another verifier', async (t) => {
    const { store, redis } = await storeFor(t);
    const lease = await running(store);
    await store.events.append(lease, [wholeBatch(1, 1)]);
    const [record] = await store.batches.takePending(1, LEASE);
    await redis.zadd(keys.pending, 1, `${lease.experiment}:1:1`);
    await store.batches.renewPending([record!], LEASE);
    assert.deepEqual(await store.batches.takePending(1, { ...LEASE, holder: 'verifier-2' }), []);
  });

  /* Fails where report.lua keeps the first report whatever it says. */
  test('a report replaces one that called the batch not verifiable, and no other', async (t) => {
    const { store } = await storeFor(t);
    const lease = await running(store);
    await store.events.append(lease, [wholeBatch(1, 1)]);
    const [record] = await store.batches.takePending(1, LEASE);
    const given = {
      ...verificationOf(1, 1),
      exact: 0,
      unverifiable: 3,
      errors: ['not-verifiable'],
      ok: false,
    };
    const condemned = reportOf(given);
    assert.equal(await store.batches.report(record!, given, condemned), 'stored');
    assert.equal(await store.batches.report(record!, given, condemned), 'known');
    const before = (await store.experiments.get(lease.experiment))?.verification;
    assert.deepEqual([before?.unverifiable, before?.signal], [3, 'unverified']);

    const found = { ...verificationOf(1, 1), exact: 2, wrong: 1, ok: false };
    assert.equal(await store.batches.report(record!, found, reportOf(found)), 'replaced');
    assert.equal(await store.batches.report(record!, given, condemned), 'known');
    const late = verificationOf(1, 1);
    assert.equal(await store.batches.report(record!, late, reportOf(late)), 'known');
    const { verification } = (await store.experiments.get(lease.experiment))!;
    const { batchesVerified, exact, wrong, unverifiable, errors, signal } = verification;
    assert.deepEqual([batchesVerified, exact, wrong, unverifiable, errors, signal], [1, 2, 1, 0, 0, 'wrong']);
    assert.deepEqual((await store.batches.get(lease.experiment, 1, 1))?.report, reportOf(found));
    const events = (await store.events.tail(lease.experiment, 2)).map(({ event }) => event);
    assert.deepEqual(events, [given, { ...found, replaces: true }]);
  });

  test('an error finding of a batch that could be read at last makes the signal wrong', async (t) => {
    const { store } = await storeFor(t);
    const lease = await running(store);
    await store.events.append(lease, [wholeBatch(1, 1)]);
    const [record] = await store.batches.takePending(1, LEASE);
    const unreadable = { ...verificationOf(1, 1), exact: 0, unverifiable: 3, errors: ['not-verifiable'] };
    await store.batches.report(record!, unreadable, reportOf(unreadable));
    const mixed = { ...verificationOf(1, 1), errors: ['mixed-groups'], ok: false };
    await store.batches.report(record!, mixed, reportOf(mixed));
    assert.equal((await store.experiments.get(lease.experiment))?.verification.signal, 'wrong');
  });

  test('a report that replaces another one after the archive was written appears in feed and stream', async (t) => {
    const { store } = await storeFor(t);
    const lease = await running(store);
    const id = lease.experiment;
    await store.events.append(lease, [wholeBatch(1, 1)]);
    const [record] = await store.batches.takePending(1, LEASE);
    const given = {
      ...verificationOf(1, 1),
      exact: 0,
      unverifiable: 3,
      errors: ['not-verifiable'],
      ok: false,
    };
    await store.batches.report(record!, given, reportOf(given));
    await store.attempts.end(lease, { to: 'succeeded', reason: 'exit code 0' });
    await store.rules.dropSignals(id);
    assert.equal(await store.archive.archiveStream(id), 'archived');
    const better = verificationOf(1, 1);
    assert.equal(await store.batches.report(record!, better, reportOf(better)), 'replaced');
    const last = async () => (await store.events.tail(id, 1))[0]?.event;
    assert.deepEqual(await last(), { ...verificationOf(1, 1), replaces: true });
    await store.rules.dropSignals(id);
    const due = await store.archive.take({ limit: 9, leaseMs: 1, afterMs: -60_000 });
    assert.deepEqual(due, [id]);
    assert.equal(await store.archive.archiveStream(id), 'archived');
    assert.deepEqual(await last(), { ...verificationOf(1, 1), replaces: true });
    const entries = await store.feed.read('default', '0', 99);
    const told = entries.map(({ event }) => event).filter(({ type }) => type === 'verification');
    assert.deepEqual(told, [given, { ...verificationOf(1, 1), replaces: true }]);
  });

  test('a report that comes after the next attempt has begun is placed behind its events', async (t) => {
    const { store } = await storeFor(t);
    const first = await running(store);
    await store.events.append(first, [wholeBatch(1, 1)]);
    await store.attempts.end(first, { to: 'queued', reason: 'node lost' });
    const second = await claimed(store, first.experiment);
    await store.events.append(second, [wholeBatch(1, 1)]);
    const [old] = await store.batches.takePending(1, LEASE);
    assert.equal(old?.attempt, 1);
    assert.equal(await store.batches.report(old, verificationOf(1, 1), { ok: true }), 'stored');
    const [entry] = await store.events.tail(first.experiment, 1);
    assert.deepEqual(entry, { id: `2-${2 ** 20 + 1}`, at: entry!.at, event: verificationOf(1, 1) });
    const record = await store.experiments.get(first.experiment);
    assert.deepEqual([record?.verification.batches, record?.verification.batchesVerified], [2, 1]);
    assert.equal((await store.batches.get(first.experiment, 2, 1))?.report, null);
  });

  /* Seen to fail where report.lua counts before it knows whether there is a report. */
  test('reports of two verifiers that raced are counted once', async (t) => {
    const { store } = await storeFor(t);
    const lease = await running(store);
    await store.events.append(lease, [wholeBatch(1, 1)]);
    const [record] = await store.batches.takePending(1, LEASE);
    const whole = reportOf(verificationOf(1, 1));
    const stored = await Promise.all(
      [1, 2, 3].map((n) => store.batches.report(record!, verificationOf(1, 1), { ...whole, name: `${n}` })),
    );
    assert.deepEqual(stored, ['stored', 'known', 'known']);
    assert.equal((await store.batches.get(lease.experiment, 1, 1))?.report?.name, '1');
    assert.equal((await store.experiments.get(lease.experiment))?.verification.exact, 3);
    assert.equal(
      (await store.events.tail(lease.experiment, 9)).filter((e) => e.event.type === 'verification').length,
      1,
    );
    await assert.rejects(
      store.batches.report({ ...record!, batch: 9 }, verificationOf(1, 9), {}),
      coded('not-found'),
    );
  });

  /* Seen to fail where the digest is not compared. */
  test('bytes that do not have their digest are refused', async (t) => {
    const { store, redis } = await storeFor(t);
    const lease = await running(store);
    await store.events.append(lease, [wholeBatch(1, 1), wholeBatch(2, 2)]);
    const [one, two] = await allBatches(store, lease.experiment);
    assert.deepEqual(await store.batches.bytes(two!), BYTES);
    await assert.rejects(store.batches.bytes({ ...one!, digest: '0'.repeat(64) }), coded('not-verifiable'));
    await redis.xdel(keys.events(lease.experiment), one!.firstEntry);
    await assert.rejects(store.batches.bytes(one!), coded('not-verifiable'));
  });

  test('joins a batch of many parts, with other events between them', async (t) => {
    const { store } = await storeFor(t, { limits: { inlineBytes: 8 } });
    const lease = await running(store);
    const parts = Array.from({ length: 40 }, (_v, at) => Buffer.alloc(1 + (at % 12), at));
    const digest = createHash('sha256').update(Buffer.concat(parts)).digest('hex');
    const events = parts.flatMap((data, index): NumberedEvent[] => [
      {
        sequence: 2 * index + 1,
        at: 0,
        event: { type: 'batch', step: 1, batch: 1, index, count: 40, rows: 1, digest, bytes: data.length },
        data,
      },
      {
        sequence: 2 * index + 2,
        at: 0,
        event: { type: 'log', source: 'stdout', lines: ['between'], cutBytes: 0 },
      },
    ]);
    await store.events.append(lease, events);
    const [record] = await allBatches(store, lease.experiment);
    assert.deepEqual(await store.batches.bytes(record!), Buffer.concat(parts));
  });
});

test('a backlog of one project does not delay the batches of another, which take turns with it', async (t) => {
  const { store } = await storeFor(t);
  await makeProjects(store, 'busy', 'other');
  const projects = new Map<string, string>();
  const record = async (project: string, count: number) => {
    const lease = await running(store, { input: { project } });
    projects.set(lease.experiment, project);
    for (let batch = 1; batch <= count; batch++) await recordBatch(store, lease, { batch, data: BYTES });
  };
  const take = async (count: number) => {
    const taken = await store.batches.takePending(count, { holder: 'a', leaseMs: 60_000 });
    return taken.map(({ experiment, batch }) => `${projects.get(experiment)} ${batch}`);
  };
  await record('busy', 20);
  assert.deepEqual(await take(3), ['busy 1', 'busy 2', 'busy 3']);
  await record('other', 2);
  assert.deepEqual(await take(5), ['busy 4', 'other 1', 'busy 5', 'other 2', 'busy 6']);
});
