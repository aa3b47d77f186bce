import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LaunchOutcome } from '../../../../../src/rpc/ray-worker.ts';
import { RayWorkerError } from '../../../../../src/rpc/status.ts';
import { attemptBench, fails } from '../../../../support/attempt-bench.ts';

test('gives a cluster that is out of disk some tries, then sees to it that nothing starts later', async () => {
  const { state, calls, run } = attemptBench();
  state.launch = fails('exhausted');
  assert.equal(await run().done, 'queued');
  assert.deepEqual(calls.slice(-2), ['stop 1 grace 0', 'end queued']);
});

test('fails what can never be launched, and tries a fenced one again', async () => {
  const refused = attemptBench();
  refused.state.launch = fails('invalid');
  assert.equal(await refused.run().done, 'failed');
  const fenced = attemptBench();
  fenced.state.launch = async () => ({ outcome: 'fenced', fencingAttempt: 2, reason: 'r' });
  assert.equal(await fenced.run().done, 'queued');
  assert.match(fenced.state.decision?.reason ?? '', /fenced by attempt 2: r/);
});

test('gives up a launch under way when the experiment is cancelled', async () => {
  const { state, calls, run } = attemptBench();
  const launching = Promise.withResolvers<LaunchOutcome>();
  state.launch = async () => {
    attempt.cancel();
    launching.reject(new RayWorkerError('aborted', 'given up'));
    return await launching.promise;
  };
  const attempt = run();
  assert.equal(await attempt.done, 'cancelled');
  assert.deepEqual(calls, ['launch 1', 'stop 1 grace 7', 'end cancelled']);
});
