import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failOverdue, reconcile } from '../../../src/dispatch/reconcile.ts';
import type { Experiment } from '../../../src/schemas/experiment.ts';
import { QUIET } from '../../support/dispatch.ts';

function bench(states: Record<string, string>, jobs: string[]) {
  const line = new Set(jobs);
  const store = {
    waitingIds: async () => Object.keys(states).filter((id) => states[id] === 'queued'),
    get: async (id: string) =>
      states[id] === undefined ? undefined : ({ state: states[id], priority: 3 } as Experiment),
  };
  const added: [string, number][] = [];
  return {
    line,
    added,
    states,
    store,
    run: (checks = 100) =>
      reconcile({
        checks,
        store,
        line: {
          ids: async () => new Set(line),
          async ensure(id, priority) {
            line.add(id);
            added.push([id, priority]);
            return 'ready';
          },
          async leave(id) {
            line.delete(id);
          },
        },
        limit: 100,
        log: QUIET,
      }),
  };
}

test('the line is made to agree with the records', async () => {
  const { line, added, run } = bench({ a: 'queued', b: 'queued', c: 'running', d: 'cancelled' }, [
    'a',
    'c',
    'd',
    'z',
  ]);
  assert.deepEqual(await run(), { added: 1, removed: 3 });
  assert.deepEqual([...line], ['a', 'b']);
  assert.deepEqual(added, [['b', 3]]);
  assert.deepEqual(await run(), { added: 0, removed: 0 });
});

test('an experiment submitted or claimed in between is judged by its record', async () => {
  const { line, states, store, run } = bench({ a: 'queued' }, ['a', 'new']);
  const read = store.waitingIds;
  store.waitingIds = async () => {
    const ids = await read();
    states.new = 'queued'; // its job was there before, its record is seen only now
    return [...ids, 'claimed'];
  };
  states.claimed = 'launching';
  assert.deepEqual(await run(), { added: 0, removed: 0 });
  assert.deepEqual([...line], ['a', 'new']);
});

test('every experiment that waits past its deadline is ended, however many there are', async () => {
  const answers = [500, 500, 3, 0];
  const asked: number[] = [];
  const store = {
    async failOverdue(limit: number) {
      asked.push(limit);
      return answers.shift() ?? 0;
    },
  };
  await failOverdue({ store, log: QUIET });
  assert.deepEqual(asked, [500, 500, 500]);
});

test('a great difference is mended bit by bit', async () => {
  const { line, run } = bench({ a: 'queued', b: 'queued', c: 'queued' }, ['x', 'y', 'z']);
  assert.deepEqual(await run(2), { added: 2, removed: 2 });
  assert.deepEqual(await run(2), { added: 1, removed: 1 });
  assert.deepEqual([...line].toSorted(), ['a', 'b', 'c']);
});
