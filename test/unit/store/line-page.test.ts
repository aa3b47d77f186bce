import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { LinePlace } from '../../../src/store/line-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { redisFor } from '../../support/redis.ts';
import { claimed, storeFor, submitInput } from '../../support/store.ts';

type Input = Parameters<typeof submitInput>[0];

async function submitted(store: Store, more: Input = {}): Promise<string> {
  return (await store.submit(submitInput(more))).id;
}

/** All pages behind `from`, one after the other; `between` is carried out after each. */
async function pages(
  store: Store,
  input: { limit: number; project?: string; from?: LinePlace },
  between: () => Promise<unknown> = async () => {},
): Promise<{ id: string; place: number }[][]> {
  const found: { id: string; place: number }[][] = [];
  for (let at: LinePlace | null | undefined = input.from; at !== null; ) {
    const page = await store.linePage({ ...input, ...(at && { from: at }) });
    found.push(page.waiting.map(({ experiment, place }) => ({ id: experiment, place })));
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
  const waiting = await store.waiting(1000);
  const queues = Map.groupBy(waiting, ({ project }) => project);
  const order: string[] = [];
  for (const turn of turns) {
    const left = [...queues.values()].filter((queue) => queue.length > 0);
    const next = left[turn % Math.max(1, left.length)]?.shift();
    if (next) order.push(next.experiment);
  }
  await store.noteWaiting(new Map(order.map((id, at) => [id, { reason: 'r', rank: at + 1 }])));
  return order;
}

test('pages hold the whole line once, in the order of turns, then in that of the line', async (t) => {
  const server = await redisFor(t, { appendfsync: 'no' });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(plan, async ({ limit, items, turns }) => {
      const { store } = await storeFor(t, { server, prefix: `p${run++}` });
      for (const item of items) await submitted(store, item);
      const order = await noteTurns(store, turns);
      const rest = (await store.waitingIds(1000)).filter((id) => !order.includes(id));
      const found = await pages(store, { limit });
      assert.deepEqual(ids(found), [...order, ...rest]);
      assert.deepEqual(
        found.flat().map(({ place }) => place),
        items.map((_, at) => at + 1),
      );
      for (const page of found.slice(0, -1)) assert.equal(page.length, limit);
      await store.close();
    }),
    { numRuns: 25 },
  );
});

// Fails where a page begins behind a place instead of behind what was shown: each start moves the others up.
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
      const before = await store.waitingIds(1000);
      const left = [...moved];
      const move = async () => {
        const [what, number] = left.shift() ?? ['none', 0];
        const waiting = await store.waitingIds(1000);
        const one = waiting[number % Math.max(1, waiting.length)];
        if (what === 'submit') await submitted(store, { project: 'abcd'[number % 4]!, priority: number % 3 });
        if (what === 'note') await noteTurns(store, [...turns, number]);
        if (what === 'start' && waiting[0]) await claimed(store, waiting[0]);
        if (what === 'cancel' && one) await store.cancel(one, '');
      };
      const shown = ids(await pages(store, { limit }, move));
      assert.equal(new Set(shown).size, shown.length, 'one was shown twice');
      const after = new Set(await store.waitingIds(1000));
      const missed = before.filter((id) => after.has(id) && !shown.includes(id));
      assert.deepEqual(missed, []);
      await store.close();
    }),
    { numRuns: 25 },
  );
});

test('of one project: its own, at their places in the line of all', async (t) => {
  const { store } = await storeFor(t);
  await submitted(store, { project: 'others', priority: 5 });
  const [low, high] = [
    await submitted(store, { project: 'mine' }),
    await submitted(store, { project: 'mine', priority: 9 }),
  ];
  await submitted(store, { project: 'others' });
  assert.deepEqual(await pages(store, { limit: 10, project: 'mine' }), [
    [
      { id: high, place: 1 },
      { id: low, place: 3 },
    ],
  ]);
  assert.deepEqual(ids(await pages(store, { limit: 1, project: 'mine' })), [high, low]);
  assert.deepEqual(await pages(store, { limit: 1, project: 'nobody' }), [[]]);
  assert.equal((await store.linePage({ limit: 1, project: 'mine' })).length, 4);
});

test('one that was moved to the front since the last choice stands before its own', async (t) => {
  const { store } = await storeFor(t);
  const first = await submitted(store, { project: 'a' });
  const other = await submitted(store, { project: 'b' });
  const raised = await submitted(store, { project: 'a' });
  await store.noteWaiting(
    new Map([first, other, raised].map((id, at) => [id, { reason: 'r', rank: at + 1 }])),
  );
  await store.setPriority(raised, 5);
  assert.deepEqual(ids(await pages(store, { limit: 1 })), [raised, first, other]);
});

test('with very many projects the pages are in the order of the line; nobody is missed where they become many', async (t) => {
  const server = await redisFor(t, { appendfsync: 'no' });
  const { store } = await storeFor(t, { server });
  const names = Array.from({ length: 50 }, (_, at) => `p${at}`);
  for (const project of names) await submitted(store, { project });
  const twins = await submitted(store, { project: 'p0' });
  const line = await store.waitingIds(100);
  await noteTurns(store, [...names.keys()].reverse());
  const turns = await store.linePage({ limit: 20 });
  assert.notDeepEqual(turns.waiting[0]?.experiment, line[0]);
  assert.ok(JSON.stringify(turns.next).length < 4000);

  const extra = await submitted(store, { project: 'one-more' });
  assert.deepEqual(ids(await pages(store, { limit: 7 })), [...line, extra]);
  const shown = [
    ...turns.waiting.map(({ experiment }) => experiment),
    ...ids(await pages(store, { limit: 7, from: turns.next! })),
  ];
  assert.deepEqual(
    [...line, extra].filter((id) => !shown.includes(id)),
    [],
  );

  const many = await store.linePage({ limit: 20 });
  await store.cancel(extra, '');
  const rest = ids(await pages(store, { limit: 7, from: many.next! }));
  assert.deepEqual(rest.toSorted(), line.slice(20).toSorted());
  assert.ok(rest.includes(twins));
});

test('a page reads little more than it shows', async (t) => {
  const server = await redisFor(t, { appendfsync: 'no' });
  const { store, redis } = await storeFor(t, { server });
  for (let at = 0; at < 150; at++) await submitted(store, { project: 'abc'[at % 3]! });
  await redis.config('RESETSTAT');
  assert.equal((await store.linePage({ limit: 15 })).waiting.length, 15);
  const calls = /cmdstat_hget:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1];
  assert.ok(Number(calls) <= 30, `${calls} records were looked at`);
});

// Fails where the lines of projects are believed: what an older version has put into the line would be in no page.
test('what stands in no line of a project is shown', async (t) => {
  const { store, redis } = await storeFor(t);
  const [first, second] = [
    await submitted(store, { project: 'a' }),
    await submitted(store, { project: 'b' }),
  ];
  await redis.del('{echelon}:line:b');
  assert.deepEqual(ids(await pages(store, { limit: 1 })), [first, second]);
});
