import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attemptBench } from '../../../../support/attempt-bench.ts';

test('fencing stops every earlier running attempt', async () => {
  const { state, calls, run } = attemptBench({ attempt: 4, takenOver: true });
  state.known = [
    { attempt: 3, running: false },
    { attempt: 2, running: true },
    { attempt: 1, running: false },
  ];
  assert.equal(await run().done, 'succeeded');
  assert.deepEqual(calls.slice(0, 2), ['stop 2 grace 0', 'launch 4']);
});
