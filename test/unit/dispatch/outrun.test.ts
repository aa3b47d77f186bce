import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findHigher, Outrun } from '../../../src/dispatch/outrun.ts';
import type { AttemptStatus, RayWorkerClient } from '../../../src/rpc/ray-worker.ts';

const PLACE = { experiment: 'exp-a', attempt: 2 };

function listing(...known: Partial<AttemptStatus>[]): Pick<RayWorkerClient, 'list'> {
  return { list: async () => known as AttemptStatus[] };
}
const find = (...known: Partial<AttemptStatus>[]) =>
  findHigher(listing(...known), PLACE, new AbortController().signal);

test('nothing is higher where the cluster knows this attempt and lower ones only', async () => {
  assert.equal(await find(), undefined);
  assert.equal(await find({ attempt: 2, running: true }, { attempt: 1, running: false }), undefined);
});

test('the highest counts, and whether it was launched', async () => {
  assert.deepEqual(await find({ attempt: 3, running: false }, { attempt: 5, running: true }), {
    highest: 5,
    launched: true,
    running: true,
  });
  assert.deepEqual(await find({ attempt: 7, running: false, tombstone: true }), {
    highest: 7,
    launched: false,
    running: false,
  });
});

test('a launched attempt is met under its own number, a tombstone is passed', () => {
  assert.equal(new Outrun({ highest: 5, launched: true }, 2).goesOnAfter, 4);
  assert.equal(new Outrun({ highest: 5, launched: false }, 2).goesOnAfter, 5);
  assert.match(new Outrun({ highest: 5, launched: true }, 2).message, /knows attempt 5 .* only attempt 2/);
});
