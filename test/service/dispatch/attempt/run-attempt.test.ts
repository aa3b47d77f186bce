import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { attemptBench, SUCCEEDED, silence } from '../../../support/attempt-bench.ts';
import { until } from '../../../support/dispatch.ts';

describe('the lifecycle of an attempt', () => {
  test('launches, confirms, follows and decides', async () => {
    const { calls, run } = attemptBench();
    const attempt = run();
    await attempt.placed;
    assert.equal(await attempt.done, 'succeeded');
    assert.deepEqual(calls, ['launch 1', 'confirm', 'attach 1 after 0', 'append 1', 'end succeeded']);
  });

  test('a success before the stop remains a success', async () => {
    const { state, run } = attemptBench({ confirmed: true, state: 'running' });
    state.stop = async () => ({ dropped: false, ended: SUCCEEDED });
    const attempt = run();
    attempt.limit('its deadline has passed');
    assert.equal(await attempt.done, 'succeeded');
  });

  /* Fails without the look at `crashes`: the attempt would launch it a fourth time. */
  test('an experiment whose launches ended three dispatchers is stopped without compiling its plan', async () => {
    const crash = { at: 0, attempt: 1, dispatcher: 'd1', during: 'launch' } as const;
    const { state, calls, run, deps } = attemptBench({
      attempt: 3,
      takenOver: true,
      crashes: [crash, crash, crash],
    });
    deps.compile = () => process.exit(1);
    state.stop = async () => ({ dropped: true, ended: null });
    assert.equal(await run().done, 'failed');
    assert.deepEqual(calls, ['stop 3 grace 0', 'end failed']);
    assert.ok(state.decision?.to === 'failed' && state.decision.quarantined);
    assert.match(
      state.decision.reason,
      /^quarantined after 3 crashes: dispatcher d1 was lost as it launched attempt 1/,
    );
    const { calls: spared, run: resume } = attemptBench({
      attempt: 3,
      takenOver: true,
      crashes: [crash, crash],
    });
    assert.equal(await resume().done, 'succeeded');
    assert.ok(spared.includes('launch 3'));
  });

  /* Fails where the plan of an attempt that runs is compiled before it is needed. */
  test('follows a driver whose spec cannot be compiled any more', async () => {
    const { run, deps } = attemptBench({ confirmed: true, takenOver: true, state: 'running' });
    deps.compile = () => {
      throw new Error('an engine of an older version');
    };
    assert.equal(await run().done, 'succeeded');
  });

  test('a hand-over between two events records no end', async () => {
    const { state, calls, run } = attemptBench();
    state.events = silence;
    const attempt = run();
    await until(() => calls.includes('attach 1 after 0'), 'it is followed');
    attempt.handOver();
    assert.equal(await attempt.done, null);
    assert.ok(!calls.some((call) => call.startsWith('end') || call.startsWith('stop')));
  });
});
