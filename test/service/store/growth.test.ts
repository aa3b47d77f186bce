import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { NumberedEvent } from '../../../src/core/events.ts';
import { RETENTION_STAGES } from '../../../src/schemas/retention.ts';
import type { Store } from '../../../src/store/store.ts';
import { redisFor } from '../../support/redis.ts';
import { documentedKeys, everyKey, familyOf, type KeyFamily } from '../../support/redis-keys.ts';
import { claimed, storeFor, submitInput, type TestStore } from '../../support/store.ts';

/*
 * Redis refuses writes when it is full, so nothing in it may grow with the number of experiments that ever ran, once
 * retention has done its work. What bounds each family of keys is said in docs/reference/redis-keys.md.
 */

/** A family of keys that only the cancelled ones, every seventh, leave grows beyond the limit of 20. */
const EXPERIMENTS = 160;
const LATER = Date.now() + 10 * 24 * 3600 * 1000;
const FAMILIES = documentedKeys();

/** The families that there are, with the number of their keys. */
async function families(redis: TestStore['redis']): Promise<Map<KeyFamily, number>> {
  const found = new Map<KeyFamily, number>();
  for (const key of await everyKey(redis)) {
    const family = familyOf(FAMILIES, key);
    assert.ok(family, `${key} is not in docs/reference/redis-keys.md`);
    found.set(family, (found.get(family) ?? 0) + 1);
  }
  return found;
}

const BYTES = Buffer.from('the bytes of a batch');
const DIGEST = createHash('sha256').update(BYTES).digest('hex');
const EVENTS: NumberedEvent[] = [
  { sequence: 1, at: 1, event: { type: 'stage', name: 'train', step: 1, steps: 2 } },
  { sequence: 2, at: 2, event: { type: 'log', source: 'stdout', lines: ['a line', 'another'], cutBytes: 0 } },
  {
    sequence: 3,
    at: 3,
    event: { type: 'metrics', step: 1, values: { loss: 1.5, 'critic/score/mean': 0.25 } },
  },
  {
    sequence: 4,
    at: 4,
    data: BYTES,
    event: {
      type: 'batch',
      step: 1,
      batch: 1,
      index: 0,
      count: 1,
      rows: 3,
      digest: DIGEST,
      bytes: BYTES.length,
    },
  },
  {
    sequence: 5,
    at: 5,
    event: { type: 'checkpoint', step: 1, path: '../../checkpoints/p/run/global_step_1' },
  },
];

/** One experiment from its submission to its last report; every seventh is cancelled while it waits. */
async function live(store: Store, number: number): Promise<void> {
  const project = number % 2 === 0 ? 'default' : 'other';
  const idempotency = { name: number.toString(16).padStart(64, '0'), digest: 'd' };
  const { id } = await store.experiments.submit(submitInput({ project, idempotency }));
  if (number % 7 === 0) return void (await store.experiments.cancel(id, 'not needed'));
  const lease = await claimed(store, id);
  await store.attempts.confirm(lease);
  await store.events.append(lease, EVENTS);
  await store.attempts.end(lease, { to: number % 3 === 0 ? 'failed' : 'succeeded', reason: 'exit code' });
}

async function reportAll(store: Store): Promise<void> {
  for (;;) {
    const records = await store.batches.takePending(100, { holder: 'verifier-1', leaseMs: 60_000 });
    if (records.length === 0) return;
    for (const { attempt, batch, step, ...record } of records) {
      const counts = { rows: 3, exact: 3, rounding: 0, wrong: 0, unverifiable: 0, errors: [], ok: true };
      const event = { type: 'verification', attempt, batch, step, ...counts } as const;
      await store.batches.report({ attempt, batch, step, ...record }, event, { ok: true });
    }
  }
}

/** As the dispatcher's rules do once they have seen everything. */
async function dropSignals(store: Store): Promise<void> {
  for (;;) {
    const { ids } = await store.rules.takeSignals(200, 60_000);
    if (ids.length === 0) return;
    for (const id of ids) await store.rules.dropSignals(id);
  }
}

async function archiveAll(store: Store): Promise<void> {
  for (;;) {
    const ids = await store.archive.take({ limit: 100, leaseMs: 600_000, afterMs: 0 });
    if (ids.length === 0) return;
    for (const id of ids) assert.equal(await store.archive.archiveStream(id), 'archived');
  }
}

async function expireAll(store: Store, stages: readonly (typeof RETENTION_STAGES)[number][]): Promise<void> {
  for (const stage of stages) {
    for (const project of ['default', 'other']) {
      for (;;) {
        const ids = await store.retention.due(stage, project, { endedBefore: LATER, limit: 100 });
        if (ids.length === 0) break;
        for (const id of ids) assert.equal(await store.retention.expire(stage, id), 'expired');
      }
    }
  }
  while ((await store.retention.collectGarbage(100)) > 0);
}

const server = await redisFor({ after }, { appendfsync: 'no' });
const all = await storeFor({ after }, { server });

describe('what stays in Redis', () => {
  before(async () => {
    const { store } = all;
    for (let from = 0; from < EXPERIMENTS; from += 20) {
      // One after the other: claims on one cluster exclude each other.
      for (let number = from; number < from + 20; number++) await live(store, number);
      await reportAll(store);
      await dropSignals(store);
    }
    await archiveAll(store);
  });

  test('what stays in Redis after the archive: records and what belongs to them, and no entry of a stream', async () => {
    const { redis, store } = all;
    await families(redis);
    for (const key of await redis.keys('*:events')) {
      if (key.includes(':x:')) assert.equal(await redis.xlen(key), 0);
    }
    assert.equal((await store.archive.take({ limit: 1, leaseMs: 1, afterMs: -1e12 })).length, 0);
  });

  test('what stays in Redis after batches and streams have gone: records alone', async () => {
    const { redis, store } = all;
    await expireAll(store, ['batches', 'streams']);
    const found = await families(redis);
    for (const { goes, name } of found.keys()) assert.notEqual(goes, 'with the stream', name);
    assert.equal([...found].find(([{ name }]) => name === 'x:<experiment>')?.[1], EXPERIMENTS);
  });

  /* Fails if redis/lua/remove.lua omits a family, or if idempotency keys do not expire. */
  test('what stays in Redis after the records have gone: nothing that grows with what ever ran', async () => {
    const { redis, store } = all;
    await expireAll(store, RETENTION_STAGES);
    for (let more = true; more; ) {
      const taken = await store.retention.takeForgetting({ limit: 100, leaseMs: 60_000, afterMs: 0 });
      await store.retention.forgotten(taken.map(({ id }) => id));
      more = taken.length > 0;
    }
    for (const [{ name, goes }, count] of await families(redis)) {
      assert.ok(!goes.startsWith('with') && goes !== 'empties', `${name} is left`);
      if (goes !== 'expires') assert.ok(count < 20, name);
    }
    for (const key of await redis.keys('*:answer:*')) assert.ok((await redis.ttl(key)) > 0, key);
    for (const key of await redis.keys('*:feed:*')) assert.ok((await redis.xlen(key)) < 25_000, key);
  });
});
