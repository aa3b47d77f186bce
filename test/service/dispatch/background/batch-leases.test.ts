import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBatchLeases, createDoubts } from '../../../../src/dispatch/background/batch-leases.ts';
import type { BatchRecord } from '../../../../src/store/batches/types.ts';
import { QUIET, until } from '../../../support/dispatch.ts';
import { partialStore } from '../../../support/partial-store.ts';

const record = (batch: number) => ({ experiment: 'exp-a', attempt: 1, batch }) as BatchRecord;
const numbers = (records: readonly BatchRecord[]) => records.map(({ batch }) => batch);

function bench(taken: BatchRecord[][], { doubtMs }: { doubtMs?: number } = {}) {
  const given: number[][] = [];
  const begun: number[] = [];
  const batches = {
    takePending: async () => taken.shift() ?? [],
    beginPending: async ({ batch }: BatchRecord) => begun.push(batch) > 0,
    renewPending: async () => {},
    returnPending: async (records: readonly BatchRecord[]) => void given.push(numbers(records)),
  };
  return {
    given,
    begun,
    leases: createBatchLeases({
      store: partialStore({ batches }),
      holder: 'a',
      leaseMs: 1000,
      doubtMs,
      log: QUIET,
    }),
  };
}

test('what is known of batches that another process has taken over is forgotten after an hour', () => {
  let now = 0;
  const doubts = createDoubts(1_000, () => now);
  for (let batch = 1; batch <= 50; batch += 1) assert.ok(doubts.mayWait(record(batch)));
  now = 1_000;
  assert.ok(!doubts.mayWait(record(1)));
  assert.equal(doubts.size(), 50);
  now += 3_600_000;
  assert.ok(doubts.mayWait(record(51)));
  assert.equal(doubts.size(), 1);
});

test('a process does not take a batch twice that it is still verifying', async () => {
  const { leases } = bench([[record(1)], [record(1), record(2)], [record(1)]]);
  assert.deepEqual(numbers(await leases.take(9)), [1]);
  assert.deepEqual(numbers(await leases.take(9)), [2]);
  leases.done(record(1));
  assert.deepEqual(numbers(await leases.take(9)), [1]);
});

test('after the close all batches are given back, late ones included, and none begins', async () => {
  const { leases, given, begun } = bench([[record(1), record(2)], [record(3)]]);
  await leases.take(9);
  assert.equal(await leases.begin(record(1)), true);
  await leases.close();
  assert.deepEqual(await leases.take(9), []);
  assert.equal(await leases.begin(record(2)), false);
  await leases.giveBack(record(1));
  assert.deepEqual([given, begun], [[[1, 2], [3]], [1]]);
});

test('a batch may wait until the time of doubt has passed, and anew after its report', async () => {
  const { leases } = bench([], { doubtMs: 20 });
  assert.equal(leases.mayWait(record(1)), true);
  await until(() => !leases.mayWait(record(1)), 'the time has passed');
  assert.equal(leases.mayWait(record(2)), true);
  leases.done(record(1));
  assert.equal(leases.mayWait(record(1)), true);
});
