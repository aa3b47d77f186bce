import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import { recordBatch, running, storeFor } from '../../../support/store.ts';

const { store, redis } = await storeFor({ after }, { limits: { inlineBytes: 8 } });

const bytes = Buffer.from('more than eight bytes');
const digest = createHash('sha256').update(bytes).digest('hex');

test('batches page by attempt and number', async () => {
  const lease = await running(store);
  for (let batch = 1; batch <= 12; batch++) await recordBatch(store, lease, { batch, data: bytes });
  const first = await store.batches.page(lease.experiment, { limit: 7 });
  assert.deepEqual([first.items.map(({ batch }) => batch), first.more], [[1, 2, 3, 4, 5, 6, 7], true]);
  const rest = await store.batches.page(lease.experiment, { limit: 7, after: first.items.at(-1)! });
  assert.deepEqual([rest.items.map(({ batch }) => batch), rest.more], [[8, 9, 10, 11, 12], false]);
  assert.deepEqual(rest.items[0], await store.batches.get(lease.experiment, 1, 8));

  // Of other attempts, and so many that Redis is not to read them in one step.
  const key = `{echelon}:x:${lease.experiment}:batches`;
  const row = `1 4 ${digest} 1-1 1-1`;
  for (const attempt of [10, 2])
    await redis.hset(key, ...Array.from({ length: 900 }, (_, at) => [`${attempt}:${at + 1}`, row]).flat());
  const found: number[][] = [];
  for (let more = true; more; ) {
    const [attempt, batch] = found.at(-1) ?? [0, 0];
    const after = { attempt: attempt!, batch: batch! };
    const page = await store.batches.page(lease.experiment, { limit: 500, after });
    found.push(...page.items.map((one) => [one.attempt, one.batch]));
    more = page.more;
  }
  const numbers = (attempt: number, count: number) =>
    Array.from({ length: count }, (_, at) => [attempt, at + 1]);
  assert.deepEqual(found, [...numbers(1, 12), ...numbers(2, 900), ...numbers(10, 900)]);
  const looks = Number(/cmdstat_hscan:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1]);
  assert.ok(looks > 4, `${looks} looks`);
});
