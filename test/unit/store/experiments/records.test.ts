import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import type { AttemptEvent } from '../../../../src/core/events.ts';
import type { Lease } from '../../../../src/store/attempts/contract.ts';
import { everyKeyWith } from '../../../support/redis-keys.ts';
import { coded, running, storeFor, submitInput } from '../../../support/store.ts';

const { store, redis } = await storeFor({ after }, { limits: { inlineBytes: 8 } });

const bytes = Buffer.from('more than eight bytes');
const digest = createHash('sha256').update(bytes).digest('hex');

async function recordBatch(lease: Lease, sequence: number, batch: number): Promise<void> {
  const event = {
    type: 'batch',
    step: batch,
    batch,
    index: 0,
    count: 1,
    rows: 4,
    digest,
    bytes: bytes.length,
  } as const;
  await store.append(lease, [{ sequence, at: sequence, event, data: bytes }]);
}

describe('deletion', () => {
  test('refuses what has not ended, and changes nothing', async () => {
    const { id } = await store.submit(submitInput());
    assert.equal(await store.deleteExperiment(id), 'not-ended');
    const lease = await running(store);
    assert.equal(await store.deleteExperiment(lease.experiment), 'not-ended');
    await store.cancel(lease.experiment, 'enough');
    assert.equal(await store.deleteExperiment(lease.experiment), 'not-ended');
    assert.equal((await store.get(id))?.state, 'queued');
    assert.equal(await store.deleteExperiment('exp-00000000000000000000'), 'not-found');
  });

  // Fails without one of the lines of redis/lua/remove.lua.
  test('leaves nothing of it but the marks for its bytes in the archive and its logs on the cluster', async () => {
    const lease = await running(store);
    const events: AttemptEvent[] = [
      { type: 'stage', name: 'training', step: 1, steps: 2 },
      { type: 'metrics', step: 1, values: { loss: 1 } },
      { type: 'checkpoint', step: 1, path: '/shared/1' },
    ];
    await store.append(
      lease,
      events.map((event, at) => ({ sequence: at + 1, at: 1, event })),
    );
    await recordBatch(lease, 4, 1);
    await recordBatch(lease, 5, 2);
    const [record] = (await store.takePending(1, { holder: 'verifier-1', leaseMs: 60_000 })) as [
      NonNullable<Awaited<ReturnType<typeof store.batch>>>,
    ];
    const counts = { type: 'verification', attempt: 1, batch: 1, step: 1, rows: 4, exact: 4 } as const;
    await store.report(
      record,
      { ...counts, rounding: 0, wrong: 0, unverifiable: 0, errors: [], ok: true },
      {},
    );
    // Fails where the count of how often a batch was taken outlives it.
    assert.equal((await store.takePending(1, { holder: 'verifier-1', leaseMs: 60_000 }))[0]?.batch, 2);
    await store.end(lease, { to: 'succeeded', reason: 'done' });
    const before = await store.counts();
    assert.equal(await store.deleteExperiment(lease.experiment), 'deleted');
    const marks = ['{echelon}:archive:garbage', '{echelon}:forgetting'];
    assert.deepEqual(await everyKeyWith(redis, lease.experiment), marks);
    assert.equal((await store.counts()).succeeded, before.succeeded - 1);
    assert.equal(await store.get(lease.experiment), undefined);
    assert.equal(await store.deleteExperiment(lease.experiment), 'not-found');
    await assert.rejects(
      store.report(record, { ...counts, rounding: 0, wrong: 0, unverifiable: 0, errors: [], ok: true }, {}),
      coded('not-found'),
    );
  });

  // Fails where each batch is a call of its own: Redis does nothing else meanwhile.
  test('takes no longer for many batches', async () => {
    const calls = async (name: string) =>
      Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(await redis.info('commandstats'))?.[1] ?? 0);
    const lease = await running(store);
    for (let batch = 1; batch <= 100; batch++) await recordBatch(lease, batch, batch);
    await store.end(lease, { to: 'failed', reason: 'enough' });
    const before = await calls('zrem');
    assert.equal(await store.deleteExperiment(lease.experiment), 'deleted');
    assert.equal(await store.backlog(), 0);
    assert.ok((await calls('zrem')) - before < 30);
  });

  // Hangs where a follower takes what is gone for what is still to come.
  test('ends those who follow it', { timeout: 20_000 }, async () => {
    const lease = await running(store);
    await recordBatch(lease, 1, 1);
    await store.end(lease, { to: 'failed', reason: 'enough' });
    const seen: string[] = [];
    for await (const { event } of store.follow(lease.experiment, undefined, new AbortController().signal)) {
      seen.push(event.type);
      // The batch has no report yet, so that without the delete they would wait for one.
      if (event.type === 'state' && event.to === 'failed') await store.deleteExperiment(lease.experiment);
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
  await store.append(lease, events);
  await store.append(lease, events);
  const first = await store.artifacts(lease.experiment, 0, 3);
  const rest = await store.artifacts(lease.experiment, 3, 3);
  assert.ok(first.more && !rest.more);
  assert.deepEqual(
    [...first.items, ...rest.items],
    events.map(({ at, event: { step, path } }) => ({ kind: 'checkpoint', step, path, attempt: 1, at })),
  );
  await redis.del(`{echelon}:x:${lease.experiment}:artifacts`);
  const older = await store.artifacts(lease.experiment, 0, 3);
  assert.equal(older.items[0]?.step, 4);
  assert.deepEqual(await store.artifacts((await running(store)).experiment, 0, 3), {
    items: [],
    more: false,
  });
});

test('batches page by attempt and number', async () => {
  const lease = await running(store);
  for (let batch = 1; batch <= 12; batch++) await recordBatch(lease, batch, batch);
  const first = await store.batchPage(lease.experiment, { limit: 7 });
  assert.deepEqual([first.items.map(({ batch }) => batch), first.more], [[1, 2, 3, 4, 5, 6, 7], true]);
  const rest = await store.batchPage(lease.experiment, { limit: 7, after: first.items.at(-1)! });
  assert.deepEqual([rest.items.map(({ batch }) => batch), rest.more], [[8, 9, 10, 11, 12], false]);
  assert.deepEqual(rest.items[0], await store.batch(lease.experiment, 1, 8));

  // Of other attempts, and so many that Redis is not to read them in one step.
  const key = `{echelon}:x:${lease.experiment}:batches`;
  const row = `1 4 ${digest} 1-1 1-1`;
  for (const attempt of [10, 2])
    await redis.hset(key, ...Array.from({ length: 900 }, (_, at) => [`${attempt}:${at + 1}`, row]).flat());
  const found: number[][] = [];
  for (let more = true; more; ) {
    const [attempt, batch] = found.at(-1) ?? [0, 0];
    const after = { attempt: attempt!, batch: batch! };
    const page = await store.batchPage(lease.experiment, { limit: 500, after });
    found.push(...page.items.map((one) => [one.attempt, one.batch]));
    more = page.more;
  }
  const numbers = (attempt: number, count: number) =>
    Array.from({ length: count }, (_, at) => [attempt, at + 1]);
  assert.deepEqual(found, [...numbers(1, 12), ...numbers(2, 900), ...numbers(10, 900)]);
  const looks = Number(/cmdstat_hscan:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1]);
  assert.ok(looks > 4, `${looks} looks`);
});
