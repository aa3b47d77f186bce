import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AttemptStatus } from '../../../../../src/rpc/ray-worker.ts';
import { attemptBench } from '../../../../support/attempt-bench.ts';

test('a stale record gets the attempt number that the cluster knows, and nothing is launched in its place', async () => {
  const { state, calls, run } = attemptBench();
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

test('a tombstone above the record gives the next attempt a higher number', async () => {
  const { state, run } = attemptBench();
  state.launch = async () => ({ outcome: 'fenced', fencingAttempt: 4, reason: 'r' });
  state.known = [{ attempt: 4, running: false, tombstone: true } as AttemptStatus];
  assert.equal(await run().done, 'queued');
  assert.equal((state.decision as { attemptsAbove?: number }).attemptsAbove, 4);
});

test('a cancel while a stale record is corrected stops the higher attempt', async () => {
  const { state, calls, run } = attemptBench();
  state.launch = async () => ({ outcome: 'fenced', fencingAttempt: 4, reason: 'r' });
  state.known = [{ attempt: 4, running: true }];
  state.endAnswer = 'cancelling';
  assert.equal(await run().done, 'cancelled');
  assert.deepEqual(calls, ['launch 1', 'end queued', 'stop 4 grace 0', 'end cancelled']);
});
