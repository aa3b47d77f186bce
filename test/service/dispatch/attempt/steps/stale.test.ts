import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findHigher } from '../../../../../src/dispatch/attempt/steps/stale.ts';
import type { AttemptStatus, RayWorkerClient } from '../../../../../src/rpc/ray-worker.ts';
import { attemptBench, STOPPED } from '../../../../support/attempt-bench.ts';

const PLACE = { experiment: 'exp-a', attempt: 2 };

function listing(...known: Partial<AttemptStatus>[]): Pick<RayWorkerClient, 'list'> {
  return { list: async () => known as AttemptStatus[] };
}
const find = (...known: Partial<AttemptStatus>[]) =>
  findHigher(listing(...known), PLACE, new AbortController().signal);

test('no higher attempt is found if the cluster knows only this and lower attempts', async () => {
  assert.equal(await find(), undefined);
  assert.equal(await find({ attempt: 2, running: true }, { attempt: 1, running: false }), undefined);
});

test('the highest attempt is found, and whether it was launched', async () => {
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

test('an unrequested stop makes the record stale if the cluster knows a higher attempt', async () => {
  const { state, run } = attemptBench({ confirmed: true, state: 'running' });
  state.events = async function* () {
    yield { sequence: 1, at: 0, event: STOPPED };
  };
  state.known = [{ attempt: 2, running: true }];
  assert.equal(await run().done, 'queued');
  const alone = attemptBench({ confirmed: true, state: 'running' });
  alone.state.events = state.events;
  assert.equal(await alone.run().done, 'queued');
  assert.equal((alone.state.decision as { attemptsAbove?: number }).attemptsAbove, undefined);
});

test('a cancel stops the higher attempt before the cancel is recorded', async () => {
  const { state, calls, run } = attemptBench({ state: 'cancelling' });
  state.record = 'cancelling';
  state.known = [{ attempt: 6, running: true }];
  assert.equal(await run().done, 'cancelled');
  assert.deepEqual(calls, ['stop 1 grace 7', 'stop 6 grace 7', 'end cancelled']);
});
