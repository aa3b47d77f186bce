import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withDeadline } from '../../../../src/http/server/store-deadline.ts';
import type { Store } from '../../../../src/store/store.ts';

const never = () => new Promise<never>(() => {});

test('a call that hangs is given up, one that answers is passed on as it is', async () => {
  const failure = new Error('of its own');
  const store = withDeadline(
    {
      counts: never,
      backlog: async () => 7,
      waiting: async (limit: number) => [limit],
      clusters: async () => Promise.reject(failure),
    } as unknown as Store,
    20,
  );
  await assert.rejects(store.counts(), { code: 'store-unavailable' });
  assert.equal(await store.backlog(), 7);
  assert.deepEqual(await store.waiting(3), [3]);
  await assert.rejects(store.clusters(), failure);
});

test('a call keeps its object, and what may take long has no deadline', async () => {
  const bytes = Promise.withResolvers<Uint8Array>();
  const held = {
    value: 5,
    async backlog() {
      return this.value;
    },
    batchBytes: () => bytes.promise,
    async *follow() {
      yield this.value;
    },
  };
  const store = withDeadline(held as unknown as Store, 1);
  assert.equal(await store.backlog(), 5);
  const slow = store.batchBytes({} as never);
  await assert.rejects(withDeadline({ counts: never } as unknown as Store, 10).counts());
  bytes.resolve(new Uint8Array(3));
  assert.equal((await slow).length, 3);
  const followed: unknown[] = [];
  for await (const entry of store.follow('x', undefined, new AbortController().signal)) followed.push(entry);
  assert.deepEqual(followed, [5]);
});
