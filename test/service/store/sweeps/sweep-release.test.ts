import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { makeChild } from '../../../../src/plan/sweep.ts';
import type { Store } from '../../../../src/store/store.ts';
import { claimed, storeFor } from '../../../support/store.ts';
import { chainInput, expandAll } from '../../../support/sweep.ts';

async function end(store: Store, experiment: string, to: 'succeeded' | 'failed'): Promise<void> {
  const lease = await claimed(store, experiment);
  await store.attempts.confirm(lease);
  await store.attempts.end(lease, { to, reason: 'a test' });
}

/** Two trainings: two evaluations depend on the first, one on the second. */
async function chain(store: Store) {
  const { id } = await store.sweeps.create(chainInput([undefined, undefined, 0, 0, 1]));
  const trainings = await expandAll(store, id);
  return { id, trainings };
}

async function children(store: Store, id: string) {
  const sweep = (await store.sweeps.get(id))!;
  return await store.sweeps.children(sweep, 0, sweep.count);
}

const release = (store: Store, id: string) => store.sweeps.release(id, makeChild);

describe('children that wait for another', () => {
  test('children that wait for another become experiments when the child that they depend on has succeeded, not before', async (t) => {
    const { store } = await storeFor(t);
    const { id, trainings } = await chain(store);
    assert.equal(trainings.length, 2);
    assert.deepEqual(await release(store, id), []);
    assert.deepEqual(await store.sweeps.withWork(10), [], 'nothing is to be done until one ends');
    await end(store, trainings[0]!, 'succeeded');
    // Fails without the mark that an end leaves while others wait.
    assert.deepEqual(await store.sweeps.withWork(10), [id]);
    const made = await release(store, id);
    const all = await children(store, id);
    assert.deepEqual(
      made.map(({ experiment }) => experiment),
      [all[2]!.experiment, all[3]!.experiment],
    );
    assert.deepEqual(
      all.map(({ state, after }) => [state, after]),
      [
        ['succeeded', null],
        ['queued', null],
        ['queued', 0],
        ['queued', 0],
        [null, 1],
      ],
    );
    assert.deepEqual(await release(store, id), [], 'a second time makes none twice');
    const sweep = (await store.sweeps.get(id))!;
    assert.deepEqual([sweep.expanded, sweep.skipped, sweep.counts.queued], [4, 0, 3]);
    assert.equal((await store.experiments.get(made[0]!.experiment))?.name, 'child 2');
  });

  // Fails where only states that are there are looked at: the sweep then never ends.
  test('never run if it was deleted before', async (t) => {
    const { store } = await storeFor(t);
    const { id, trainings } = await chain(store);
    for (const training of trainings) {
      await end(store, training, 'succeeded');
      assert.equal(await store.experiments.delete(training), 'deleted');
    }
    assert.deepEqual(await release(store, id), []);
    const sweep = (await store.sweeps.get(id))!;
    assert.deepEqual([sweep.state, sweep.skipped, sweep.counts.succeeded], ['done', 3, 2]);
    const [, , evaluation] = await children(store, id);
    assert.match(evaluation!.skipped ?? '', /child 0, on which it depends, is deleted/);
  });

  test('never run if it has not succeeded, and the sweep ends without them', async (t) => {
    const { store } = await storeFor(t);
    const { id, trainings } = await chain(store);
    await end(store, trainings[0]!, 'failed');
    await store.experiments.cancel(trainings[1]!, 'no');
    assert.equal((await store.sweeps.get(id))!.state, 'running');
    assert.deepEqual(await release(store, id), []);
    const sweep = (await store.sweeps.get(id))!;
    assert.deepEqual([sweep.state, sweep.skipped, sweep.expanded], ['done', 3, 2]);
    assert.ok(sweep.endedAt);
    assert.deepEqual(
      (await children(store, id)).map(({ skipped }) => skipped),
      [
        null,
        null,
        ...Array<string>(2).fill('child 0, on which it depends, is failed'),
        'child 1, on which it depends, is cancelled',
      ],
    );
    assert.deepEqual(await store.sweeps.withWork(10), []);
  });

  test('wait again if it runs again, and run after that', async (t) => {
    const { store } = await storeFor(t);
    const { id, trainings } = await chain(store);
    for (const training of trainings) await end(store, training, 'failed');
    await release(store, id);
    const record = (await store.sweeps.get(id))!;
    assert.equal(record.state, 'done');
    const again = await store.sweeps.rerunChildren(record, await children(store, id), makeChild);
    assert.equal(again.length, 2);
    const running = (await store.sweeps.get(id))!;
    assert.deepEqual([running.state, running.skipped, running.endedAt], ['running', 0, null]);
    await end(store, again[0]!.experiment, 'succeeded');
    const made = await release(store, id);
    assert.equal(made.length, 2);
    for (const { experiment } of [...made, again[1]!]) await end(store, experiment, 'succeeded');
    const [last] = await release(store, id);
    await end(store, last!.experiment, 'succeeded');
    const sweep = (await store.sweeps.get(id))!;
    assert.deepEqual([sweep.state, sweep.counts.succeeded, sweep.counts.failed], ['done', 5, 0]);
  });

  // Fails if the dependents are read anew for each child: for 5,000 of them, a hundred times in one step.
  test('children that wait for another are looked through once, however many run again', async (t) => {
    const { store, redis } = await storeFor(t);
    const { id } = await store.sweeps.create(chainInput([undefined, undefined, undefined, 0, 1, 2]));
    for (const training of await expandAll(store, id)) await end(store, training, 'failed');
    await release(store, id);
    const [record, all] = [(await store.sweeps.get(id))!, await children(store, id)];
    assert.equal(record.skipped, 3);
    const looks = async () =>
      Number(/cmdstat_hgetall:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1]);
    const before = await looks();
    assert.equal((await store.sweeps.rerunChildren(record, all, makeChild)).length, 3);
    assert.equal((await looks()) - before, 1);
    assert.equal((await store.sweeps.get(id))!.skipped, 0);
  });

  test('children that wait for another are cancelled with the sweep, those that are experiments and those that are not', async (t) => {
    const { store } = await storeFor(t);
    const { id, trainings } = await chain(store);
    await end(store, trainings[0]!, 'succeeded');
    await release(store, id);
    await store.sweeps.cancel(id, 'enough');
    for (let from: number | null = 0; from !== null; )
      from = (await store.sweeps.cancelChildren(id, from)).next;
    const sweep = (await store.sweeps.get(id))!;
    assert.deepEqual([sweep.state, sweep.counts.cancelled, sweep.counts.succeeded], ['cancelled', 3, 1]);
    assert.ok(sweep.endedAt);
    assert.deepEqual(await release(store, id), []);
    assert.deepEqual(await store.sweeps.withWork(10), []);
  });

  test('an end between the look and the step is not missed', async (t) => {
    const { store, redis } = await storeFor(t);
    const { id, trainings } = await chain(store);
    await end(store, trainings[0]!, 'succeeded');
    const stale = (await store.sweeps.get(id))!.ends;
    await end(store, trainings[1]!, 'succeeded');
    await redis.hset(`{echelon}:sweep:${id}`, 'ends', Number(stale) + 2);
    const made = await release(store, id);
    assert.equal(made.length, 3);
    await redis.hset(`{echelon}:sweep:${id}`, 'held', 1);
    await redis.hincrby(`{echelon}:sweep:${id}`, 'ends', 1);
    await store.experiments.cancel(made[0]!.experiment, 'an end');
    assert.deepEqual(await store.sweeps.withWork(10), [id], 'it stays among those with work');
  });

  test('whatever ends when and who looks beside whom: each is made or given up once, and the counts are right', async (t) => {
    const { store } = await storeFor(t);
    const order = fc.array(fc.tuple(fc.nat({ max: 2 }), fc.boolean()), { minLength: 3, maxLength: 9 });
    await fc.assert(
      fc.asyncProperty(order, async (ends) => {
        const { id } = await store.sweeps.create(chainInput([undefined, undefined, undefined, 0, 1, 1, 2]));
        const trainings = await expandAll(store, id);
        const over = new Map<number, boolean>();
        for (const [training, well] of [...ends, [0, true], [1, false], [2, true]] as [number, boolean][]) {
          if (over.has(training)) continue;
          over.set(training, well);
          await Promise.all([
            end(store, trainings[training]!, well ? 'succeeded' : 'failed'),
            release(store, id),
            release(store, id),
          ]);
        }
        await Promise.all([release(store, id), release(store, id)]);
        const all = await children(store, id);
        for (const child of all.slice(3)) {
          const well = over.get(child.after!)!;
          assert.deepEqual([child.state, child.skipped === null], well ? ['queued', true] : [null, false]);
        }
        const sweep = (await store.sweeps.get(id))!;
        const made = all.filter(({ index, state }) => index > 2 && state === 'queued').length;
        assert.deepEqual([sweep.expanded, sweep.skipped, sweep.counts.queued], [3 + made, 4 - made, made]);
      }),
      { numRuns: 15 },
    );
  });
});
