import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReconciler, failOverdue } from '../../../../src/dispatch/placement/reconcile.ts';
import type { Experiment } from '../../../../src/schemas/experiment.ts';
import { QUIET } from '../../../support/dispatch.ts';

function bench(states: Record<string, string>, { jobs, step = 100 }: { jobs: string[]; step?: number }) {
  const line = new Set(jobs);
  const active = new Set<string>();
  const waits = (id: string) => states[id] === 'queued';
  const store = {
    waitingIds: async (limit: number, from = 0) =>
      Object.keys(states)
        .filter(waits)
        .slice(from, from + limit),
    whoWaits: async (ids: readonly string[]) => new Set(ids.filter(waits)),
    get: async (id: string) =>
      states[id] === undefined ? undefined : ({ state: states[id], priority: 3 } as Experiment),
  };
  const added: [string, number][] = [];
  const run = createReconciler({
    ...{ store, step, log: QUIET },
    line: {
      slice: async (from, count) => [...line].slice(from, from + count),
      missing: async (ids) => ids.filter((id) => !line.has(id)),
      async ensure(id, priority) {
        if (active.has(id)) return false;
        line.add(id);
        added.push([id, priority]);
        return true;
      },
      async leave(id) {
        line.delete(id);
      },
    },
  });
  return { line, active, added, states, store, run };
}

test('the line is made to agree with the records', async () => {
  const states = { a: 'queued', b: 'queued', c: 'running', d: 'cancelled', e: 'queued' };
  const { line, active, added, run } = bench(states, { jobs: ['a', 'c', 'd', 'z'] });
  active.add('e');
  assert.deepEqual(await run(), { added: 1, removed: 3 });
  assert.deepEqual([...line], ['a', 'b']);
  assert.deepEqual(added, [['b', 3]]);
  assert.deepEqual(await run(), { added: 0, removed: 0 });
});

test('an experiment submitted or claimed in between is judged by its record', async () => {
  const { line, states, store, run } = bench({ a: 'queued' }, { jobs: ['a', 'new'] });
  const [readWaiting, readWho] = [store.waitingIds, store.whoWaits];
  store.waitingIds = async (limit, from) => [...(await readWaiting(limit, from)), 'claimed'];
  store.whoWaits = async (ids) => {
    const found = await readWho(ids);
    states.new = 'queued'; // back in the line only now
    return found;
  };
  states.claimed = 'launching';
  assert.deepEqual(await run(), { added: 0, removed: 0 });
  assert.deepEqual([...line], ['a', 'new']);
});

// Fails where a step begins at the first again, or ends before the last: of a long line only the beginning would agree.
test('a line longer than a step is gone through step by step, again and again', async () => {
  const ids = Array.from({ length: 7 }, (_, at) => `w${at}`);
  const strays = Array.from({ length: 6 }, (_, at) => `s${at}`);
  const { line, run } = bench(Object.fromEntries(ids.map((id) => [id, 'queued'])), { jobs: strays, step: 3 });
  const looked: number[] = [];
  for (let step = 0; step < 12; step += 1) looked.push((await run()).added);
  assert.deepEqual(looked, [3, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual([...line].toSorted(), ids);
  line.delete('w6');
  line.add('s9');
  for (let step = 0; step < 3; step += 1) await run();
  assert.deepEqual([...line].toSorted(), ids);
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
