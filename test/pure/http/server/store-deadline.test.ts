import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withDeadline } from '../../../../src/http/server/store-deadline.ts';
import type { Store } from '../../../../src/store/store.ts';

const never = () => new Promise<never>(() => {});

test('withDeadline rejects a call that hangs and passes every other result on unchanged', async () => {
  const failure = new Error('of its own');
  const store = withDeadline(
    {
      experiments: { counts: never },
      batches: { backlog: async () => 7 },
      queue: { first: async (limit: number) => [limit] },
      clusters: { list: async () => Promise.reject(failure) },
    } as unknown as Store,
    20,
  );
  await assert.rejects(store.experiments.counts(), { code: 'store-unavailable' });
  assert.equal(await store.batches.backlog(), 7);
  assert.deepEqual(await store.queue.first(3), [3]);
  await assert.rejects(store.clusters.list(), failure);
});

test('withDeadline preserves the `this` of a call, and long calls have no deadline', async () => {
  const bytes = Promise.withResolvers<Uint8Array>();
  const held = {
    batches: {
      value: 5,
      async backlog() {
        return this.value;
      },
      bytes: () => bytes.promise,
    },
    events: {
      value: 5,
      async *follow() {
        yield this.value;
      },
    },
  };
  const store = withDeadline(held as unknown as Store, 1);
  assert.equal(await store.batches.backlog(), 5);
  const slow = store.batches.bytes({} as never);
  await assert.rejects(
    withDeadline({ experiments: { counts: never } } as unknown as Store, 10).experiments.counts(),
  );
  bytes.resolve(new Uint8Array(3));
  assert.equal((await slow).length, 3);
  const followed: unknown[] = [];
  for await (const entry of store.events.follow('x', undefined, new AbortController().signal))
    followed.push(entry);
  assert.deepEqual(followed, [5]);
});
