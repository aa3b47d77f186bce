import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findHigher, Outrun } from '../../../../src/dispatch/attempt/outrun.ts';
import type { AttemptStatus, RayWorkerClient } from '../../../../src/rpc/ray-worker.ts';
import { STOPPED, storyBench } from '../../../support/attempt-story.ts';

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

test('goes behind the attempt that the cluster knows, and launches nothing in its place', async () => {
  const { state, calls, run } = storyBench();
  state.launch = async () => ({ outcome: 'fenced', fencingAttempt: 4, reason: 'r' });
  state.known = [
    { attempt: 4, running: true },
    { attempt: 3, running: false },
  ];
  assert.equal(await run().done, 'queued');
  assert.deepEqual(calls, ['launch 1', 'end queued']);
  assert.equal((state.decision as { attemptsAbove?: number }).attemptsAbove, 3);
  assert.match(state.decision?.reason ?? '', /knows attempt 4 .* only attempt 1 .*older copy/);
});

test('takes a stop that nobody asked for as the sign of a higher attempt, where there is one', async () => {
  const { state, run } = storyBench({ confirmed: true, state: 'running' });
  state.events = async function* () {
    yield { sequence: 1, at: 0, event: STOPPED };
  };
  state.known = [{ attempt: 2, running: true }];
  assert.equal(await run().done, 'queued');
  const alone = storyBench({ confirmed: true, state: 'running' });
  alone.state.events = state.events;
  assert.equal(await alone.run().done, 'queued');
  assert.equal((alone.state.decision as { attemptsAbove?: number }).attemptsAbove, undefined);
});

test('a cancel ends the higher attempt too, before it is recorded', async () => {
  const { state, calls, run } = storyBench({ state: 'cancelling' });
  state.record = 'cancelling';
  state.known = [{ attempt: 6, running: true }];
  assert.equal(await run().done, 'cancelled');
  assert.deepEqual(calls, ['stop 1 grace 7', 'stop 6 grace 7', 'end cancelled']);
});

test('a cancel that comes while it goes behind a higher attempt ends that attempt', async () => {
  const { state, calls, run } = storyBench();
  state.launch = async () => ({ outcome: 'fenced', fencingAttempt: 4, reason: 'r' });
  state.known = [{ attempt: 4, running: true }];
  state.endAnswer = 'cancelling';
  assert.equal(await run().done, 'cancelled');
  assert.deepEqual(calls, ['launch 1', 'end queued', 'stop 4 grace 0', 'end cancelled']);
});
