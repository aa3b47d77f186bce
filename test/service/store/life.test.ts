import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import type { ControllerEvent, Ended, NumberedEvent } from '../../../src/core/events.ts';
import { redisFor } from '../../support/redis.ts';
import { reportOf } from '../../support/report.ts';
import { claimed, coded, running, storeFor, submitInput } from '../../support/store.ts';

describe('the life of an experiment', () => {
  test('the life of an experiment from submit to success, with every event in its place', async (t) => {
    const { store } = await storeFor(t);
    await store.checkFitness();
    const input = submitInput({ gpus: 1, cpus: 2.5, fingerprint: 'hgpo' });
    assert.deepEqual(await store.experiments.submit(input), { id: input.id, created: true });
    assert.deepEqual(await store.queue.position(input.id), { rank: 1, length: 1 });
    await store.queue.note(new Map([[input.id, { reason: 'no cluster yet' }]]));
    assert.equal((await store.queue.first(10))[0]?.reason, 'no cluster yet');
    assert.equal((await store.queue.first(10))[0]?.cpus, 2.5);

    const lease = await claimed(store, input.id);
    assert.deepEqual((await store.clusters.allocations('local')).items, [
      { experiment: input.id, node: 'node-1', gpus: 0, cpus: 1, project: 'default' },
    ]);
    assert.equal(await store.attempts.confirm(lease), 'running');

    const batch = Buffer.from([0, 255, 10, 13, 128]);
    const digest = createHash('sha256').update(batch).digest('hex');
    const part = { type: 'batch', step: 3, batch: 1, count: 2, rows: 40, digest } as const;
    const events: NumberedEvent[] = [
      { sequence: 1, at: 1, event: { type: 'started', pid: 7, nodeId: 'n', command: ['a', 'b'] } },
      { sequence: 2, at: 2, event: { type: 'stage', name: 'rollout', step: 3, steps: 9 } },
      { sequence: 3, at: 3, event: { ...part, index: 0, bytes: 2 }, data: batch.subarray(0, 2) },
      { sequence: 4, at: 4, event: { type: 'log', source: 'stdout', lines: ['between'], cutBytes: 0 } },
      { sequence: 5, at: 5, event: { ...part, index: 1, bytes: 3 }, data: batch.subarray(2) },
      { sequence: 6, at: 6, event: { type: 'metrics', step: 3, values: { loss: 0.1 + 0.2, kl: 'NaN' } } },
      { sequence: 7, at: 7, event: { type: 'checkpoint', step: 3, path: 'c/3' } },
    ];
    assert.equal(await store.events.append(lease, events), 7);
    assert.equal(await store.batches.backlog(), 1);
    const [pending] = await store.batches.takePending(5, { holder: 'verifier-1', leaseMs: 60_000 });
    assert.deepEqual(pending, {
      experiment: input.id,
      attempt: 1,
      batch: 1,
      step: 3,
      rows: 40,
      digest,
      firstEntry: `1-${3 * 2 ** 20}`,
      lastEntry: `1-${5 * 2 ** 20}`,
      gpuMs: 0,
      report: null,
      deaths: 0,
    });
    assert.deepEqual(await store.batches.takePending(5, { holder: 'verifier-1', leaseMs: 60_000 }), []);
    assert.deepEqual(Buffer.from(await store.batches.bytes(pending)), batch);

    const ended: Ended = {
      type: 'ended',
      cause: 'succeeded',
      exitCode: 0,
      signal: 0,
      message: '',
      lastLines: [],
    };
    assert.equal(await store.events.append(lease, [{ sequence: 8, at: 8, event: ended }]), 8);
    assert.equal(await store.attempts.end(lease, { to: 'succeeded', reason: 'exit code 0' }), 'succeeded');
    assert.equal((await store.experiments.get(input.id))?.verification.status, 'pending');

    const event: Extract<ControllerEvent, { type: 'verification' }> = {
      type: 'verification',
      attempt: 1,
      batch: 1,
      step: 3,
      rows: 40,
      exact: 30,
      rounding: 5,
      wrong: 4,
      unverifiable: 1,
      errors: ['x'],
      ok: false,
    };
    const report = reportOf(event);
    assert.equal(await store.batches.report(pending, event, report), 'stored');
    assert.equal(await store.batches.report(pending, event, { ...report, name: 'late' }), 'known');
    assert.deepEqual((await store.batches.get(input.id, 1, 1))?.report, report);
    assert.equal(await store.batches.backlog(), 0);

    const record = await store.experiments.get(input.id);
    assert.deepEqual(record?.verification, {
      status: 'complete',
      batches: 1,
      batchesVerified: 1,
      rowsSeen: 40,
      rowsVerified: 39,
      signal: 'wrong',
      exact: 30,
      rounding: 5,
      wrong: 4,
      unverifiable: 1,
      errors: 1,
      dropped: 0,
    });
    assert.deepEqual(record?.progress, {
      stage: '',
      step: 3,
      steps: 9,
      metrics: { loss: 0.1 + 0.2, kl: 'NaN' },
    });
    assert.deepEqual(record?.checkpoint, { step: 3, path: 'c/3', attempt: 1 });
    assert.deepEqual((await store.attempts.list(input.id))[0]?.ended, ended);
    assert.deepEqual((await store.clusters.allocations('local')).items, []);

    const ids = (await store.events.read(input.id, undefined, 100)).map((entry) => entry.id);
    const own = (n: number, offset = 0) => `1-${n * 2 ** 20 + offset}`;
    const expected = [
      '0-1',
      '1-0',
      '1-1',
      ...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => own(n)),
      own(8, 1),
      own(8, 2),
    ];
    assert.deepEqual(ids, expected);
    assert.deepEqual(
      (await store.events.tail(input.id, 2)).map((entry) => entry.event.type),
      ['state', 'verification'],
    );
    const followed: string[] = [];
    for await (const entry of store.events.follow(input.id, '1-1', AbortSignal.timeout(20_000))) {
      followed.push(entry.id);
    }
    assert.deepEqual(followed, expected.slice(3));
  });

  test('a cancel that came first turns any end into cancelled', async (t) => {
    const { store } = await storeFor(t);
    const lease = await running(store);
    assert.equal(await store.experiments.cancel(lease.experiment, 'enough'), 'cancelling');
    assert.equal(await store.experiments.cancel(lease.experiment, 'enough'), 'cancelling');
    assert.equal(await store.attempts.end(lease, { to: 'queued', reason: 'node lost' }), 'cancelled');
    assert.equal(await store.experiments.cancel(lease.experiment, 'enough'), 'already-final');
    await assert.rejects(store.attempts.end(lease, { to: 'failed', reason: '' }), coded('lease-lost'));
    await assert.rejects(store.events.append(lease, []), coded('lease-lost'));
    await assert.rejects(store.attempts.confirm(lease), coded('lease-lost'));
  });

  test('a requeued experiment keeps its queue position', async (t) => {
    const { store } = await storeFor(t, { server: await redisFor(t) });
    const first = submitInput();
    await store.experiments.submit(first);
    const lease = await claimed(store, first.id);
    const second = submitInput();
    await store.experiments.submit(second);
    const urgent = submitInput({ priority: 5 });
    await store.experiments.submit(urgent);
    assert.equal(await store.attempts.end(lease, { to: 'queued', reason: 'the node was lost' }), 'queued');
    assert.deepEqual(await store.queue.ids(10), [urgent.id, first.id, second.id]);
    assert.equal((await store.experiments.get(first.id))?.attempt, 1);
  });
});
