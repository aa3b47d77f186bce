import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReconciler, failOverdue } from '../../../../src/dispatch/placement/reconcile.ts';
import { QUIET } from '../../../support/dispatch.ts';
import { partialStore } from '../../../support/partial-store.ts';

function bench(queued: string[], { jobs, step = 100 }: { jobs: string[]; step?: number }) {
  const board = new Set(jobs);
  const released: string[] = [];
  const allocated: string[] = [];
  const asked: { olderThanMs: number; limit: number }[] = [];
  const run = createReconciler({
    step,
    releaseMs: 700,
    log: QUIET,
    store: partialStore({
      queue: { ids: async (limit, from = 0) => queued.slice(from, from + limit) },
      attempts: {
        async allocated(input) {
          asked.push(input);
          return allocated;
        },
      },
    }),
    queue: {
      async restore(ids) {
        const added = ids.filter((id) => !board.has(id));
        for (const id of added) board.add(id);
        return added;
      },
      async release(id) {
        if (released.includes(id)) return false;
        released.push(id);
        return true;
      },
    },
  });
  return { board, queued, allocated, released, asked, run };
}

test('a queued experiment without a job gets one', async () => {
  const { board, run } = bench(['a', 'b', 'c'], { jobs: ['a'] });
  assert.deepEqual(await run(), { added: 2, released: 0 });
  assert.deepEqual([...board], ['a', 'b', 'c']);
  assert.deepEqual(await run(), { added: 0, released: 0 });
});

// Fails without the second half: after a crash between two steps, no dispatcher would receive the allocated experiment.
test('an experiment that is allocated for too long is released again', async () => {
  const { allocated, released, asked, run } = bench([], { jobs: [] });
  allocated.push('a', 'b');
  assert.deepEqual(await run(), { added: 0, released: 2 });
  assert.deepEqual([released, asked], [['a', 'b'], [{ olderThanMs: 700, limit: 100 }]]);
  assert.deepEqual(await run(), { added: 0, released: 0 });
});

// Fails if a step begins at the first again, or ends before the last: only the beginning of a long queue would be checked.
test('a queue longer than one step is checked step by step, repeatedly', async () => {
  const ids = Array.from({ length: 7 }, (_, at) => `w${at}`);
  const { board, run } = bench(ids, { jobs: [], step: 3 });
  const added: number[] = [];
  for (let step = 0; step < 6; step += 1) added.push((await run()).added);
  assert.deepEqual(added, [3, 3, 1, 0, 0, 0]);
  board.delete('w6');
  for (let step = 0; step < 3; step += 1) await run();
  assert.deepEqual([...board].toSorted(), ids);
});

test('every experiment whose deadline has passed fails and loses its job, however many there are', async () => {
  const answers = [
    { failed: ['a'], more: true },
    { failed: [], more: true },
    { failed: ['b', 'c'], more: false },
  ];
  const asked: number[] = [];
  const removed: string[] = [];
  const experiments = {
    async failOverdue(limit: number) {
      asked.push(limit);
      return answers.shift()!;
    },
  };
  const queue = { remove: async (ids: readonly string[]) => void removed.push(...ids) };
  await failOverdue({ store: partialStore({ experiments }), queue, log: QUIET });
  assert.deepEqual(
    [asked, removed],
    [
      [500, 500, 500],
      ['a', 'b', 'c'],
    ],
  );
});
