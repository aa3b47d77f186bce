import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AttemptEvent } from '../../../src/core/events.ts';
import { RETENTION_STAGES } from '../../../src/schemas/retention.ts';
import type { TestStore } from '../../support/store.ts';
import { claimed, clusterRecord, coded, running, storeFor, submitInput } from '../../support/store.ts';

const MAX_BYTES = 24 * 1024 * 1024;

/** Fills the server beside the store until the given share of its memory is used. */
async function fill({ redis, store }: TestStore, share: number): Promise<void> {
  await redis.config('SET', 'maxmemory', String(MAX_BYTES));
  for (let at = 0; (await store.pressure()).usedBytes < share * MAX_BYTES; at++) {
    await redis.set(`ballast:${at}`, Buffer.alloc(256 * 1024, 1));
  }
}

describe('memory', () => {
  /* Seen to fail if submit.lua ignores its argument about the memory. */
  test('new work is refused above 70 % of the memory, accepted experiments continue', async (t) => {
    const all = await storeFor(t, { limits: { pressureMaxAgeMs: 0 } });
    const { store } = all;
    const early = submitInput({ idempotency: { name: 'k', digest: 'd' } });
    await store.experiments.submit(early);
    assert.equal((await store.pressure()).accepting, true);
    await fill(all, 0.75);
    const pressure = await store.pressure();
    assert.equal(pressure.maxBytes, MAX_BYTES);
    assert.equal(pressure.accepting, false);
    await assert.rejects(store.experiments.submit(submitInput()), coded('store-full'));
    assert.deepEqual(
      await store.experiments.submit({ ...submitInput(), idempotency: { name: 'k', digest: 'd' } }),
      { id: early.id, created: false },
      'what was accepted is found by its key',
    );
    const lease = await claimed(store, early.id);
    await store.attempts.confirm(lease);
    const event = { type: 'stage', name: 's', step: 1, steps: 2 } as const;
    assert.equal(await store.events.append(lease, [{ sequence: 1, at: 0, event }]), 1);
    assert.equal(await store.attempts.end(lease, { to: 'succeeded', reason: '' }), 'succeeded');
  });

  /*
   * At the limit itself, steps that free memory or end work still succeed. Seen to fail without
   * `allow-oom` in the first line of claim.lua, confirm.lua, renew.lua, cancel.lua, end.lua and take-over.lua.
   */
  test('at the limit events are refused whole, and every step of control works', async (t) => {
    const all = await storeFor(t);
    const { store, redis } = all;
    const lease = await running(store);
    const inputs = [submitInput(), submitInput()];
    for (const input of inputs) await store.experiments.submit(input);
    await fill(all, 0.6);
    await redis.config('SET', 'maxmemory', '1mb');
    const event: AttemptEvent = { type: 'log', source: 'stdout', lines: ['x'], cutBytes: 0 };
    await assert.rejects(store.events.append(lease, [{ sequence: 1, at: 0, event }]), coded('store-full'));

    const next = await claimed(store, inputs[0]!.id);
    assert.equal(await store.attempts.confirm(next), 'running');
    assert.equal((await store.attempts.renew([next], 60_000))[0]?.status, 'held');
    assert.equal(await store.experiments.cancel(inputs[1]!.id, ''), 'cancelled');
    await store.clusters.put(clusterRecord({ address: '127.0.0.1:1', lastSeenAt: 1 }));
    await store.queue.note(new Map([[inputs[1]!.id, { reason: 'no room' }]]));
    assert.equal((await store.queue.first(5)).length, 0);
    assert.equal((await store.experiments.counts()).running, 2);
    await store.attempts.release([next]);
    const [taken] = await store.attempts.takeOver({ dispatcher: 'd', leaseMs: 60_000, limit: 5 });
    assert.equal(await store.attempts.end(taken!.lease, { to: 'failed', reason: '' }), 'failed');

    await redis.config('SET', 'maxmemory', '0');
    assert.equal(await store.events.append(lease, [{ sequence: 1, at: 0, event }]), 1);
  });

  /*
   * Seen to fail where a look at what clusters keep is put off by a command that a full server refuses: nothing was deleted any more, and it stayed full.
   */
  test('at the memory limit every step that frees memory succeeds', async (t) => {
    const all = await storeFor(t);
    const { store, redis } = all;
    const ended = await Promise.all(['a', 'b', 'c'].map(() => store.experiments.submit(submitInput())));
    for (const { id } of ended) await store.experiments.cancel(id, '');
    const [first, second, third] = ended.map(({ id }) => id) as [string, string, string];
    await store.archive.archiveStream(first);
    await redis.config('SET', 'maxmemory', '1mb');
    await assert.rejects(store.experiments.submit(submitInput()), coded('store-full'));

    assert.deepEqual(
      (await store.archive.take({ limit: 5, leaseMs: 60_000, afterMs: -60_000 })).sort(),
      [second, third].sort(),
    );
    assert.equal(await store.archive.archiveStream(second), 'archived');
    const forgetting = { limit: 5, leaseMs: 60_000, afterMs: -60_000 };
    assert.equal((await store.retention.takeForgetting(forgetting)).length, 2);
    await store.retention.forgetLater([first, second], { laterMs: 60_000, afterMs: 0 });
    await store.retention.forgotten([first]);
    assert.equal(await store.retention.hold('dispatcher', 60_000), true);
    for (const stage of RETENTION_STAGES) assert.equal(await store.retention.expire(stage, first), 'expired');
    assert.equal(
      (await store.retention.expireSweeps('default', { endedBefore: 1, limit: 5, cursor: null })).deleted,
      0,
    );
    assert.equal(await store.experiments.delete(third), 'deleted');
    assert.equal(await store.retention.collectGarbage(5), 2);
    assert.equal(await store.experiments.get(first), undefined);
  });
});
