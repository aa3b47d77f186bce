import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import type { NumberedEvent } from '../../../../src/core/events.ts';
import { running, storeFor } from '../../../support/store.ts';

const { store, redis } = await storeFor({ after });

describe('bytes of Redis for a value, with its index and aggregates, at 100,000 points', () => {
  /** Of [0, 1), with 53 random bits. */
  const noise = (step: number) =>
    Number(createHash('sha256').update(`${step}`).digest().readBigUInt64LE() >> 11n) / 2 ** 53;
  const cases: Record<string, [limit: number, value: (step: number) => number]> = {
    'smooth float64 values': [8.1, (step) => Math.sin(step / 500) * 1e-3],
    // Only the exponent of a random value takes less than its 8 bytes. The time of each event, a tenth of a byte here, is counted too.
    'uniform float64 noise': [9.3, noise],
  };
  for (const [what, [limit, value]] of Object.entries(cases)) {
    test(`${what}: at most ${limit}`, async (t) => {
      const lease = await running(store);
      for (let first = 0; first < 100_000; first += 1000) {
        const events = Array.from({ length: 1000 }, (_, at): NumberedEvent => {
          const values = { x: value(first + at) };
          return { sequence: first + at + 1, at, event: { type: 'metrics', step: first + at, values } };
        });
        await store.events.append(lease, events);
        for (const id of await store.metrics.takeDue(10)) await store.metrics.compact(id);
      }
      const key = `{echelon}:x:${lease.experiment}:series`;
      let bytes = 0;
      for (const name of [key, `${key}:names`, `${key}:rows`]) {
        bytes += Number((await redis.call('MEMORY', 'USAGE', name, 'SAMPLES', '0')) ?? 0);
      }
      t.diagnostic(`${bytes / 100_000} B`);
      assert.ok(bytes / 100_000 <= limit, `${bytes / 100_000} B`);
    });
  }
});
