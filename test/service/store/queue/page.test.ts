import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Store } from '../../../../src/store/store.ts';
import { redisFor } from '../../../support/redis.ts';
import { claimed, storeFor, submitInput } from '../../../support/store.ts';

type Input = Parameters<typeof submitInput>[0];

async function submitted(store: Store, more: Input = {}): Promise<string> {
  return (await store.experiments.submit(submitInput(more))).id;
}

/** All pages, one after the other; `between` is carried out after each. */
async function pages(
  store: Store,
  input: { limit: number; project?: string },
  between: () => Promise<unknown> = async () => {},
): Promise<{ id: string; position: number }[][]> {
  const found: { id: string; position: number }[][] = [];
  for (let at: string | null | undefined; at !== null; ) {
    const page = await store.queue.page({ ...input, ...(at && { after: at }) });
    found.push(page.queued.map(({ experiment, position }) => ({ id: experiment, position })));
    at = page.next;
    assert.ok(found.length < 1000, 'the pages never end');
    await between();
  }
  return found;
}

const ids = (found: { id: string }[][]) => found.flat().map(({ id }) => id);

const plan = fc.record({
  limit: fc.integer({ min: 1, max: 7 }),
  items: fc.array(
    fc.record({ project: fc.constantFrom('a', 'b', 'c', 'd'), priority: fc.integer({ min: -2, max: 2 }) }),
    { maxLength: 25 },
  ),
  /** Which project is next, again and again: the order of a choice that has looked at so many. */
  turns: fc.array(fc.nat(3), { maxLength: 25 }),
});

/** Notes places as a choice does: the own ones of a project in the order of the line. Returns the order. */
async function noteTurns(store: Store, turns: readonly number[]): Promise<string[]> {
  const queued = await store.queue.first(1000);
  const queues = Map.groupBy(queued, ({ project }) => project);
  const order: string[] = [];
  for (const turn of turns) {
    const left = [...queues.values()].filter((queue) => queue.length > 0);
    const next = left[turn % Math.max(1, left.length)]?.shift();
    if (next) order.push(next.experiment);
  }
  await store.queue.note(new Map(order.map((id, at) => [id, { reason: 'r', rank: at + 1 }])));
  return order;
}

test('pages hold the whole queue once, by priority and arrival, each sorted by the positions of the last round', async (t) => {
  const server = await redisFor(t, { appendfsync: 'no' });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(plan, async ({ limit, items, turns }) => {
      const { store } = await storeFor(t, { server, prefix: `p${run++}` });
      for (const item of items) await submitted(store, item);
      const order = await noteTurns(store, turns);
      const queue = await store.queue.ids(1000);
      const found = await pages(store, { limit });
      for (const [at, page] of found.entries()) {
        const own = queue.slice(at * limit, (at + 1) * limit);
        assert.deepEqual(ids([page]).toSorted(), own.toSorted());
        for (const { id, position } of page)
          assert.equal(position, (order.includes(id) ? order.indexOf(id) : queue.indexOf(id)) + 1);
        assert.deepEqual(
          page,
          page.toSorted((a, b) => a.position - b.position),
        );
      }
      await store.close();
    }),
    { numRuns: 25 },
  );
});

// Fails if a page begins at an offset instead of after what was shown: each start moves the others up.
test('one that waits all the while is on one page, whatever else starts, comes or goes', async (t) => {
  const server = await redisFor(t, { appendfsync: 'no' });
  let run = 0;
  const moves = fc.array(fc.tuple(fc.constantFrom('start', 'cancel', 'submit', 'note'), fc.nat(1000)), {
    minLength: 30,
    maxLength: 30,
  });
  await fc.assert(
    fc.asyncProperty(plan, moves, async ({ limit, items, turns }, moved) => {
      const { store } = await storeFor(t, { server, prefix: `p${run++}` });
      for (const item of items) await submitted(store, item);
      await noteTurns(store, turns);
      const before = await store.queue.ids(1000);
      const left = [...moved];
      const move = async () => {
        const [what, number] = left.shift() ?? ['none', 0];
        const queued = await store.queue.ids(1000);
        const one = queued[number % Math.max(1, queued.length)];
        if (what === 'submit') await submitted(store, { project: 'abcd'[number % 4]!, priority: number % 3 });
        if (what === 'note') await noteTurns(store, [...turns, number]);
        if (what === 'start' && queued[0]) await claimed(store, queued[0]);
        if (what === 'cancel' && one) await store.experiments.cancel(one, '');
      };
      const shown = ids(await pages(store, { limit }, move));
      assert.equal(new Set(shown).size, shown.length, 'one was shown twice');
      const after = new Set(await store.queue.ids(1000));
      const missed = before.filter((id) => after.has(id) && !shown.includes(id));
      assert.deepEqual(missed, []);
      await store.close();
    }),
    { numRuns: 25 },
  );
});

test('a page of one project has its own experiments, at their positions in the whole queue', async (t) => {
  const { store } = await storeFor(t);
  await submitted(store, { project: 'others', priority: 5 });
  const [low, high] = [
    await submitted(store, { project: 'mine' }),
    await submitted(store, { project: 'mine', priority: 9 }),
  ];
  await submitted(store, { project: 'others' });
  assert.deepEqual(await pages(store, { limit: 10, project: 'mine' }), [
    [
      { id: high, position: 1 },
      { id: low, position: 3 },
    ],
  ]);
  assert.deepEqual(ids(await pages(store, { limit: 1, project: 'mine' })), [high, low]);
  assert.deepEqual(await pages(store, { limit: 1, project: 'no-such-project' }), [[]]);
  assert.equal((await store.queue.page({ limit: 1, project: 'mine' })).length, 4);
});

test('a page reads little more than it shows', async (t) => {
  const server = await redisFor(t, { appendfsync: 'no' });
  const { store, redis } = await storeFor(t, { server });
  for (let at = 0; at < 150; at++) await submitted(store, { project: 'abc'[at % 3]! });
  await redis.config('RESETSTAT');
  assert.equal((await store.queue.page({ limit: 15 })).queued.length, 15);
  const calls = /cmdstat_hmget:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1];
  assert.ok(Number(calls) <= 30, `${calls} records were looked at`);
});
