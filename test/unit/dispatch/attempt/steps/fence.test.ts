import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attemptBench } from '../../../../support/attempt-bench.ts';

test('fences what an expired dispatcher may have launched, and everything below it that runs', async () => {
  const { state, calls, run } = attemptBench({ attempt: 4, takenOver: true });
  state.known = [
    { attempt: 3, running: false },
    { attempt: 2, running: true },
    { attempt: 1, running: false },
  ];
  assert.equal(await run().done, 'succeeded');
  assert.deepEqual(calls.slice(0, 3), ['stop 3 grace 0', 'stop 2 grace 0', 'launch 4']);
});
