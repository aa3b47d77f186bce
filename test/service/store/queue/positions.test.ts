import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { redisFor } from '../../../support/redis.ts';
import { claimed, storeFor, submitInput } from '../../../support/store.ts';

test('the line is by priority, then by arrival, at every priority there is', async (t) => {
  const server = await redisFor(t, { appendfsync: 'no' });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: -100, max: 100 }), { maxLength: 12 }), async (priorities) => {
      const { store } = await storeFor(t, { server, prefix: `p${run++}` });
      const inputs = priorities.map((priority) => submitInput({ priority }));
      for (const input of inputs) await store.experiments.submit(input);
      const expected = inputs.toSorted((a, b) => b.priority - a.priority).map((input) => input.id);
      assert.deepEqual(await store.queue.ids(100), expected);
      assert.deepEqual(await store.queue.ids(4, 3), expected.slice(3, 7));
      assert.deepEqual(
        (await store.queue.first(100)).map((one) => one.experiment),
        expected,
      );
      for (const [at, id] of expected.entries()) {
        assert.deepEqual(await store.queue.position(id), { rank: at + 1, length: expected.length });
      }
      const [first] = expected;
      if (!first) return;
      const lease = await claimed(store, first);
      assert.deepEqual(await store.queue.position(first), { rank: null, length: expected.length - 1 });
      const queued = new Map(expected.slice(1).map((id) => [id, 'queued'] as const));
      assert.deepEqual(await store.queue.states([first, 'exp-none', ...expected]), queued);
      await store.attempts.end(lease, { to: 'queued', reason: '' });
      assert.deepEqual(await store.queue.ids(100), expected);
      await store.close();
    }),
    { numRuns: 20 },
  );
});

test('reasons are kept while an experiment waits', async (t) => {
  const { store } = await storeFor(t);
  const waits = (await store.experiments.submit(submitInput())).id;
  const goes = (await store.experiments.submit(submitInput())).id;
  await store.queue.note(new Map());
  await store.queue.note(new Map([waits, goes].map((id) => [id, { reason: 'no GPU is free' }])));
  const lease = await claimed(store, goes);
  await store.queue.note(new Map([goes, 'exp-00000000000000000000'].map((id) => [id, { reason: 'late' }])));
  assert.deepEqual(
    (await store.queue.first(10)).map((one) => one.reason),
    ['no GPU is free'],
  );
  await store.attempts.end(lease, { to: 'queued', reason: '' });
  assert.deepEqual(
    (await store.queue.first(10)).map((one) => one.reason),
    ['no GPU is free', null],
  );
  assert.equal(await store.experiments.get('exp-00000000000000000000'), undefined);
  assert.deepEqual(await store.queue.first(0), []);
});

test('counts are those of the records', async (t) => {
  const { store } = await storeFor(t);
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.push((await store.experiments.submit(submitInput())).id);
  await store.attempts.confirm(await claimed(store, ids[0]!));
  await claimed(store, ids[1]!);
  await store.experiments.cancel(ids[1]!, '');
  await store.experiments.cancel(ids[2]!, '');
  assert.deepEqual(await store.experiments.counts(), {
    queued: 2,
    launching: 0,
    running: 1,
    cancelling: 1,
    succeeded: 0,
    failed: 0,
    cancelled: 1,
  });
});
