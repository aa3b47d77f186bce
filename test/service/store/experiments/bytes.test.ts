import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { AttemptEvent } from '../../../../src/core/events.ts';
import { newExperimentId, newSubscriptionId } from '../../../../src/core/ids.ts';
import { makeChild } from '../../../../src/plan/sweep.ts';
import { newProject } from '../../../../src/schemas/project.ts';
import { RETENTION_STAGES } from '../../../../src/schemas/retention.ts';
import { sizeOf } from '../../../../src/store/archive/archive-segments.ts';
import { allBatches } from '../../../support/batches.ts';
import { everyKey } from '../../../support/redis-keys.ts';
import { coded, recordBatch, running, storeFor, submitInput } from '../../../support/store.ts';
import { expandAll, sweepInput, sweepRequest } from '../../../support/sweep.ts';

const ROOT = '{echelon}';
const { redis, store } = await storeFor({ after }, { limits: { liveBytes: 20_000, pressureMaxAgeMs: 0 } });
const log = (text: string): AttemptEvent => ({ type: 'log', source: 'stdout', lines: [text], cutBytes: 0 });

/** Checks that the sum of each project is that of its records, and the bytes of each live stream those of its entries. */
async function checkCounts(): Promise<void> {
  const sums = new Map<string, number>();
  for (const key of await everyKey(redis)) {
    if (!/^(x|sweep|subscription):[^:]+$/.test(key)) continue;
    const [project, bytes, streamBytes] = await redis.hmget(
      `${ROOT}:${key}`,
      'project',
      'bytes',
      'streamBytes',
    );
    assert.ok(Number(bytes) > 0, `${key} is not counted`);
    sums.set(project!, (sums.get(project!) ?? 0) + Number(bytes));
    if (!key.startsWith('x:')) continue;
    const entries = await redis.xrangeBuffer(`${ROOT}:${key}:events`, '-', '+');
    const live = entries.map(([id, fields]) => sizeOf({ id: id.toString(), fields }));
    assert.equal(
      Number(streamBytes),
      live.reduce((sum, size) => sum + size, 0),
      `the stream of ${key}`,
    );
  }
  assert.deepEqual(await store.projects.storedBytes(), sums);
}

test('the bytes of a project are the sum of its records at each step of their lives, and end with them', async () => {
  const lease = await running(store, { input: { project: 'a' } });
  const id = lease.experiment;
  const other = await store.experiments.submit(submitInput({ project: 'b' }));
  const sweep = await store.sweeps.create(sweepInput(sweepRequest(3)));
  const children = await expandAll(store, sweep.id);
  await checkCounts();

  for (let sequence = 1; sequence <= 10; sequence++)
    await store.events.append(lease, [{ sequence, at: 1, event: log('x'.repeat(5000)) }]);
  await store.experiments.annotate(id, { note: 'x'.repeat(90), tags: ['a', 'b'] });
  const metrics: AttemptEvent = { type: 'metrics', step: 1, values: { loss: 1 } };
  await store.events.append(lease, [{ sequence: 11, at: 1, event: metrics }]);
  await recordBatch(store, lease, { batch: 1, data: Buffer.alloc(3000), sequence: 12 });
  await checkCounts();
  const before = (await store.projects.storedBytes()).get('a')!;
  assert.ok(before > 53_000, `${before}`);

  await store.rules.dropSignals(id);
  assert.ok((await store.archive.rollStream(id)) > 0);
  await checkCounts();
  assert.ok((await store.projects.storedBytes()).get('a')! < before - 20_000);

  const [batch] = await allBatches(store, id);
  const outcome = { exact: 4, rounding: 0, wrong: 0, unverifiable: 0 };
  const verified = { type: 'verification', attempt: 1, batch: 1, step: 1, rows: 4, ok: true } as const;
  await store.batches.report(
    batch!,
    { ...verified, ...outcome, errors: [] },
    { ok: true, findings: [], text: 'x'.repeat(500) },
  );
  await checkCounts();
  assert.equal(await store.attempts.end(lease, { to: 'succeeded', reason: '' }), 'succeeded');
  await store.rules.dropSignals(id);
  assert.equal(await store.archive.archiveStream(id), 'archived');
  await checkCounts();
  assert.ok((await store.projects.storedBytes()).get('a')! < 12_000);

  for (const stage of RETENTION_STAGES) {
    assert.equal(await store.retention.expire(stage, id), 'expired');
    await checkCounts();
  }
  for (const gone of [other.id, ...children]) {
    await store.experiments.cancel(gone, '');
    await store.experiments.delete(gone);
  }
  await checkCounts();
  const until = { endedBefore: Date.now() + 10 ** 9, limit: 10, cursor: null };
  await redis.zrem(`${ROOT}:sweep-work`, sweep.id);
  assert.equal((await store.retention.expireSweeps('swept', until)).deleted, 1);
  assert.deepEqual(await store.projects.storedBytes(), new Map());
});

test('pending messages, dead letters and the log of a subscription count for its project until they are gone', async () => {
  const project = 'told';
  await store.projects.create(newProject({ name: project }, 1));
  const id = newSubscriptionId();
  const target = { kind: 'slack' as const, secret: 's' };
  await store.subscriptions.add({ id, project, events: ['state'], target, createdBy: 'n' });
  const counted = async () => {
    await checkCounts();
    return (await store.projects.storedBytes()).get(project) ?? 0;
  };
  const message = { id: 'm', type: 'test', at: 1, data: { text: 'x'.repeat(1000) } };
  const messages = Array.from({ length: 100 }, () => ({ subscription: id, message, everyMs: 0 }));
  await store.subscriptions.advance({ project, read: null, messages, waits: [] });
  assert.ok((await counted()) > 100_000);
  for (const outcome of ['delivered', 'dead'] as const) {
    const delivery = (await store.subscriptions.begin(id, 50, []))!;
    await store.subscriptions.end(delivery, { outcome, waitMs: 0, reason: null });
    const bytes = await counted();
    assert.ok(bytes > 50_000 && bytes < 90_000, `${bytes}`);
  }
  assert.equal(await store.subscriptions.resend(id), 50);
  assert.ok((await counted()) > 50_000);
  await store.subscriptions.remove({ project, id });
  assert.equal(await counted(), 0);
});

describe('a quota of bytes', () => {
  test('a quota of bytes refuses every kind of new work of a project, names bytes and bound, and touches no other project', async () => {
    const quota = newProject({ name: 'full', storeQuotaBytes: 60_000 }, 1);
    await store.projects.create(quota);
    const big = { submitted: { text: 'x'.repeat(50_000) } };
    const first = await store.experiments.submit(submitInput({ project: 'full', ...big }));
    const refused = (error: unknown) =>
      coded('quota-exceeded')(error) && /stores 5\d,\d{3} bytes.*may store 60,000/.test(String(error));
    await assert.rejects(store.experiments.submit(submitInput({ project: 'full', ...big })), refused);
    const run = {
      id: newExperimentId(),
      project: 'full',
      name: 'r',
      token: 't',
      silenceMs: 60_000,
      resolved: {},
      defaults: [],
      ...big,
    };
    await assert.rejects(store.runs.open(run), refused);
    const sweep = sweepInput(sweepRequest(50), { project: 'full' });
    await assert.rejects(store.sweeps.create(sweep), refused);
    await store.experiments.submit(submitInput({ project: 'other', ...big }));
    assert.ok((await store.experiments.submit(submitInput({ project: 'full' }))).created);

    await store.experiments.cancel(first.id, '');
    await store.experiments.delete(first.id);
    assert.ok((await store.experiments.submit(submitInput({ project: 'full', ...big }))).created);
  });

  test('a quota of bytes is half of maxmemory for a project without one', async (t) => {
    const own = await storeFor(t, { limits: { pressureMaxAgeMs: 0 } });
    await own.redis.config('SET', 'maxmemory', String(40 * 1024 * 1024));
    const { projectBytes } = await own.store.pressure();
    assert.equal(projectBytes, 20 * 1024 * 1024);
    const submit = (project: string) =>
      own.store.experiments.submit(submitInput({ project, submitted: { text: 'x'.repeat(500_000) } }));
    const all = async () => {
      for (let at = 0; at < 50; at++) await submit('greedy');
    };
    await assert.rejects(all(), coded('quota-exceeded'));
    assert.ok((await submit('modest')).created);
    assert.equal((await own.store.pressure()).accepting, true);
  });

  test('lets a sweep continue when other records of its project are deleted', async () => {
    const request = sweepRequest(120);
    await store.projects.create(newProject({ name: 'slow', storeQuotaBytes: 420_000 }, 1));
    const { id } = await store.sweeps.create(sweepInput(request, { project: 'slow' }));
    const ballast = submitInput({ project: 'slow', submitted: { text: 'x'.repeat(90_000) } });
    await store.experiments.submit(ballast);
    const first = await store.sweeps.expand(id, makeChild);
    assert.deepEqual([first.made.length, first.more], [100, true]);
    await store.projects.change('slow', { storeQuotaBytes: 300_000 });
    assert.deepEqual(await store.sweeps.expand(id, makeChild), { made: [], more: false });
    assert.ok((await store.sweeps.withWork(10)).includes(id));
    await store.projects.change('slow', { storeQuotaBytes: 500_000 });
    assert.equal((await store.sweeps.expand(id, makeChild)).made.length, 20);
  });
});
