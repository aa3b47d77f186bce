import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { MetricValue } from '../../../../src/core/events.ts';
import { readPyramid } from '../../../../src/store/metrics/series-pyramid.ts';
import { loadScripts } from '../../../../src/store/redis/scripts.ts';
import { running, storeFor } from '../../../support/store.ts';

const { store, redis } = await storeFor({ after });

test('reads what the script reads, to the byte', async () => {
  const lease = await running(store);
  let sequence = 1;
  for (const length of [1, 63, 500, 3000]) {
    const events = Array.from({ length }, (_, index) => {
      const step = sequence + index;
      const values: Record<string, MetricValue> = { every: step / 3, ...(step % 7 === 0 && { some: step }) };
      // Steps without a stride, for blocks that list their steps.
      return { sequence: step, at: 0, event: { type: 'metrics', step: step + (step % 5), values } as const };
    });
    await store.events.append(lease, events);
    sequence += length;
    const key = `{echelon}:x:${lease.experiment}:series`;
    const fields = new Map(Object.entries(await redis.hgetallBuffer(key)));
    const run = loadScripts(redis, '{echelon}');
    for (const [from, to] of [
      [0, 2 ** 32 - 1],
      [10, 90],
      [400, 2500],
      [3400, 9000],
      [9000, 9001],
    ] as const) {
      for (const resolution of [1, 3, 20, 500]) {
        const args = [lease.experiment, 1, from, to, resolution, 0, 1, 2];
        const [, ...read] = (await run.bytes('read-series', args)) as [Buffer, ...[number, ...Buffer[]][]];
        const same = ['0', '1', '2'].map((metric) =>
          readPyramid(fields, { attempt: 1, metric, from, to, resolution }),
        );
        assert.deepEqual(same, read, `${length}: ${from} to ${to} by ${resolution}`);
      }
    }
  }
});

test('of an attempt or a metric that it does not have, there is nothing', () => {
  const query = { attempt: 1, metric: '0', from: 0, to: 9, resolution: 5 };
  assert.deepEqual(readPyramid(new Map(), query), [0]);
});
