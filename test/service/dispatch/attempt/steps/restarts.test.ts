import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RayWorkerError } from '../../../../../src/rpc/status.ts';
import { attemptBench } from '../../../../support/attempt-bench.ts';

describe('a launch without an answer', () => {
  /* Fails without createRestarts: the launch ends the ray-worker without limit. */
  test('a launch that ends the ray-worker several times is given up', async () => {
    const { state, calls, run } = attemptBench();
    let starts = 0;
    state.launch = async () => {
      starts += 1;
      throw new RayWorkerError('unreachable', 'the connection broke');
    };
    state.startedAt = () => starts;
    assert.equal(await run().done, 'failed');
    assert.ok(state.decision?.to === 'failed' && state.decision.quarantined);
    assert.match(
      state.decision.reason,
      /^quarantined after 3 crashes: the ray-worker of c was lost at each launch/,
    );
    assert.deepEqual(calls.slice(-2), ['stop 1 grace 0', 'end failed']);
    assert.equal(starts, 4);
  });

  test('is not charged for a ray-worker that was lost while another launch was under way', async () => {
    const { state, run, deps } = attemptBench();
    const other = deps.launches.begin('c');
    let starts = 0;
    state.launch = async () => {
      starts += 1;
      if (starts < 8) throw new RayWorkerError('unreachable', 'the connection broke');
      return { outcome: 'started' };
    };
    state.startedAt = () => starts;
    assert.equal(await run().done, 'succeeded');
    other.end();
    assert.equal(starts, 8);
  });

  test('launches again after an unclear answer, however often', async () => {
    const { state, calls, run } = attemptBench();
    let times = 0;
    state.launch = async () => {
      times += 1;
      if (times < 4) throw new RayWorkerError('unreachable', 'no answer');
      return { outcome: 'already-running' };
    };
    assert.equal(await run().done, 'succeeded');
    assert.equal(calls.filter((call) => call === 'launch 1').length, 4);
  });
});
