import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { AttemptEvent } from '../../../../src/core/events.ts';
import { everyKeyWith } from '../../../support/redis-keys.ts';
import { coded, recordBatch, running, storeFor, submitInput } from '../../../support/store.ts';

const { store, redis } = await storeFor({ after }, { limits: { inlineBytes: 8 } });

const bytes = Buffer.from('more than eight bytes');

describe('deletion', () => {
  test('deletion refuses what has not ended, and changes nothing', async () => {
    const { id } = await store.experiments.submit(submitInput());
    assert.equal(await store.experiments.delete(id), 'not-ended');
    const lease = await running(store);
    assert.equal(await store.experiments.delete(lease.experiment), 'not-ended');
    await store.experiments.cancel(lease.experiment, 'enough');
    assert.equal(await store.experiments.delete(lease.experiment), 'not-ended');
    assert.equal((await store.experiments.get(id))?.state, 'queued');
    assert.equal(await store.experiments.delete('exp-00000000000000000000'), 'not-found');
  });

  // Fails without one of the lines of redis/lua/remove.lua.
  test('leaves nothing of it but the marks for its bytes in the archive and its logs on the cluster', async () => {
    const lease = await running(store);
    const events: AttemptEvent[] = [
      { type: 'stage', name: 'training', step: 1, steps: 2 },
      { type: 'metrics', step: 1, values: { loss: 1 } },
      { type: 'checkpoint', step: 1, path: '/shared/1' },
    ];
    await store.events.append(
      lease,
      events.map((event, at) => ({ sequence: at + 1, at: 1, event })),
    );
    await recordBatch(store, lease, { batch: 1, data: bytes, sequence: 4 });
    await recordBatch(store, lease, { batch: 2, data: bytes, sequence: 5 });
    const [record] = (await store.batches.takePending(1, { holder: 'verifier-1', leaseMs: 60_000 })) as [
      NonNullable<Awaited<ReturnType<typeof store.batches.get>>>,
    ];
    const counts = { type: 'verification', attempt: 1, batch: 1, step: 1, rows: 4, exact: 4 } as const;
    await store.batches.report(
      record,
      { ...counts, rounding: 0, wrong: 0, unverifiable: 0, errors: [], ok: true },
      {},
    );
    // Fails where the count of how often a batch was taken outlives it.
    assert.equal(
      (await store.batches.takePending(1, { holder: 'verifier-1', leaseMs: 60_000 }))[0]?.batch,
      2,
    );
    await store.attempts.end(lease, { to: 'succeeded', reason: 'done' });
    const before = await store.experiments.counts();
    assert.equal(await store.experiments.delete(lease.experiment), 'deleted');
    // The last one expires by itself.
    const marks = ['{echelon}:archive:garbage', '{echelon}:forgetting', '{echelon}:freed:local'];
    assert.deepEqual(await everyKeyWith(redis, lease.experiment), marks);
    assert.equal((await store.experiments.counts()).succeeded, before.succeeded - 1);
    assert.equal(await store.experiments.get(lease.experiment), undefined);
    assert.equal(await store.experiments.delete(lease.experiment), 'not-found');
    await assert.rejects(
      store.batches.report(
        record,
        { ...counts, rounding: 0, wrong: 0, unverifiable: 0, errors: [], ok: true },
        {},
      ),
      coded('not-found'),
    );
  });

  // Fails where each batch is a call of its own: Redis does nothing else meanwhile.
  test('deletion takes no longer for many batches', async () => {
    const calls = async (name: string) =>
      Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(await redis.info('commandstats'))?.[1] ?? 0);
    const lease = await running(store);
    for (let batch = 1; batch <= 100; batch++) await recordBatch(store, lease, { batch, data: bytes });
    await store.attempts.end(lease, { to: 'failed', reason: 'enough' });
    const before = await calls('zrem');
    assert.equal(await store.experiments.delete(lease.experiment), 'deleted');
    assert.equal(await store.batches.backlog(), 0);
    assert.ok((await calls('zrem')) - before < 30);
  });

  // Hangs where a follower takes what is gone for what is still to come.
  test('ends those who follow it', { timeout: 20_000 }, async () => {
    const lease = await running(store);
    await recordBatch(store, lease, { batch: 1, data: bytes });
    await store.attempts.end(lease, { to: 'failed', reason: 'enough' });
    const seen: string[] = [];
    for await (const { event } of store.events.follow(
      lease.experiment,
      undefined,
      new AbortController().signal,
    )) {
      seen.push(event.type);
      // The batch has no report yet, so that without the delete they would wait for one.
      if (event.type === 'state' && event.to === 'failed') await store.experiments.delete(lease.experiment);
    }
    assert.equal(seen.at(-1), 'state');
  });
});

test('artifacts are kept in their order, once each, and page', async () => {
  const lease = await running(store);
  const events = Array.from({ length: 5 }, (_event, at) => ({
    sequence: at + 1,
    at: 100 + at,
    event: { type: 'checkpoint', step: at, path: `/shared/${at} "quoted" \u00e9` } as const,
  }));
  await store.events.append(lease, events);
  await store.events.append(lease, events);
  const first = await store.experiments.artifacts(lease.experiment, 0, 3);
  const rest = await store.experiments.artifacts(lease.experiment, 3, 3);
  assert.ok(first.more && !rest.more);
  assert.deepEqual(
    [...first.items, ...rest.items],
    events.map(({ at, event: { step, path } }) => ({ kind: 'checkpoint', step, path, attempt: 1, at })),
  );
  assert.deepEqual(await store.experiments.artifacts((await running(store)).experiment, 0, 3), {
    items: [],
    more: false,
  });
});
