import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEntry } from '../../../../../src/core/events.ts';
import { entryId } from '../../../../../src/core/ids.ts';
import { readOn } from '../../../../../src/http/resources/experiments/metrics.ts';
import { partialStore } from '../../../../support/partial-store.ts';

function streamOf(count: number) {
  const all: StreamEntry[] = Array.from({ length: count }, (_, index) => ({
    id: entryId(1, index + 1),
    at: index,
    event: { type: 'stage', name: 'x', step: index, steps: count },
  }));
  return {
    all,
    store: partialStore({
      events: {
        read: async (_id: string, after: string | undefined, limit: number) => {
          const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
          return all.slice(start, start + limit);
        },
      },
    }),
  };
}

const step = ({ event }: StreamEntry) => (event.type === 'stage' ? event.step : -1);

test('readOn returns the wanted entries and the cursor from which to resume', async () => {
  const { store } = streamOf(1234);
  const sizeOf = (entry: StreamEntry) => (step(entry) % 3 === 0 ? 1 : undefined);
  const seen: number[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < 100; pages++) {
    const page = await readOn(store, { id: 'x', after, most: 50, mostSize: 1000, sizeOf });
    seen.push(...page.entries.map(step));
    after = page.after ?? undefined;
    if (!page.more) break;
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 412 }, (_, index) => index * 3),
  );
  assert.equal(after, entryId(1, 1234));
});

test('readOn stops after 10,000 entries, even if none is wanted', async () => {
  const { store } = streamOf(25_000);
  const first = await readOn(store, {
    id: 'x',
    after: undefined,
    most: 50,
    mostSize: 9,
    sizeOf: () => undefined,
  });
  assert.deepEqual(first, { entries: [], after: entryId(1, 10_000), more: true });
  const empty = await readOn(streamOf(0).store, {
    id: 'x',
    after: undefined,
    most: 5,
    mostSize: 9,
    sizeOf: () => 1,
  });
  assert.deepEqual(empty, { entries: [], after: null, more: false });
});

test('readOn ends a page after the entry that reaches the size limit', async () => {
  const page = { id: 'x', after: undefined, most: 50, mostSize: 10, sizeOf: () => 3 };
  const { entries, after, more } = await readOn(streamOf(100).store, page);
  assert.deepEqual([entries.length, after, more], [4, entryId(1, 4), true]);
});
