import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Ended } from '../../../../src/core/events.ts';
import { lostAttempt } from '../../../../src/dispatch/attempt/decide.ts';
import type { LaunchOutcome } from '../../../../src/rpc/ray-worker.ts';
import { RayWorkerError } from '../../../../src/rpc/status.ts';
import type { Attempt } from '../../../../src/store/experiments/contract.ts';
import { fails, STOPPED, silence, storyBench } from '../../../support/attempt-story.ts';
import { until } from '../../../support/dispatch.ts';

describe('the story of an attempt', () => {
  test('launches, confirms, follows and decides', async () => {
    const { calls, run } = storyBench();
    const story = run();
    await story.placed;
    assert.equal(await story.done, 'succeeded');
    assert.deepEqual(calls, ['launch 1', 'confirm', 'attach 1 after 0', 'append 1', 'end succeeded']);
  });

  test('fences what an expired dispatcher may have launched, and everything below it that runs', async () => {
    const { state, calls, run } = storyBench({ attempt: 4, takenOver: true });
    state.known = [
      { attempt: 3, running: false },
      { attempt: 2, running: true },
      { attempt: 1, running: false },
    ];
    assert.equal(await run().done, 'succeeded');
    assert.deepEqual(calls.slice(0, 3), ['stop 3 grace 0', 'stop 2 grace 0', 'launch 4']);
  });

  test('lets a success stand that came before the stop', async () => {
    const { run } = storyBench({ confirmed: true, state: 'running' });
    const story = run();
    story.limit('its deadline has passed');
    assert.equal(await story.done, 'succeeded');
  });

  /* Fails without the look at `crashes`: the story would launch it a fourth time. */
  test('stops an experiment whose launches ended three dispatchers, and does not compile its plan', async () => {
    const crash = { at: 0, attempt: 1, dispatcher: 'd1', during: 'launch' } as const;
    const { state, calls, run, deps } = storyBench({
      attempt: 3,
      takenOver: true,
      crashes: [crash, crash, crash],
    });
    deps.compile = () => process.exit(1);
    state.stop = async () => ({ dropped: true, ended: null });
    assert.equal(await run().done, 'failed');
    assert.deepEqual(calls, ['stop 2 grace 0', 'stop 3 grace 0', 'end failed']);
    assert.ok(state.decision?.to === 'failed' && state.decision.quarantined);
    assert.match(
      state.decision.reason,
      /^quarantined after 3 crashes: dispatcher d1 was lost as it launched attempt 1/,
    );
    const { calls: spared, run: goOn } = storyBench({ attempt: 3, takenOver: true, crashes: [crash, crash] });
    assert.equal(await goOn().done, 'succeeded');
    assert.ok(spared.includes('launch 3'));
  });

  /* Fails where the plan of an attempt that runs is compiled before it is needed. */
  test('follows a driver whose spec cannot be compiled any more', async () => {
    const { run, deps } = storyBench({ confirmed: true, takenOver: true, state: 'running' });
    deps.compile = () => {
      throw new Error('an engine of an older version');
    };
    assert.equal(await run().done, 'succeeded');
  });

  test('is settled by a launch that comes back, also without success, and by a lease of waiting', async () => {
    const refused = storyBench();
    refused.state.launch = fails('exhausted');
    await refused.run().done;
    assert.equal(refused.state.settled, 1);
    const waiting = storyBench();
    waiting.state.launch = () => new Promise<never>(() => {});
    const story = waiting.run();
    await until(() => waiting.calls.includes('launch 1'), 'it is being launched');
    story.renewed(60_000);
    assert.equal(waiting.state.settled, 0);
    story.renewed(-1);
    story.renewed(-1);
    assert.equal(waiting.state.settled, 1);
    story.drop();
  });

  test('gives a cluster that is out of disk some tries, then sees to it that nothing starts later', async () => {
    const { state, calls, run } = storyBench();
    state.launch = fails('exhausted');
    assert.equal(await run().done, 'queued');
    assert.deepEqual(calls.slice(-2), ['stop 1 grace 0', 'end queued']);
  });

  test('counts no attempt that was stopped in good order, nor one that dispatchers took from one another', async () => {
    const killed = async function* () {
      yield { sequence: 1, at: 0, event: { ...lostAttempt(''), cause: 'killed' } as Ended };
    };
    for (const [earlier, led] of [
      [[], 'failed'],
      [[{ attempt: 2, ended: null, givenUpAt: null }], 'failed'],
      [[{ attempt: 2, ended: STOPPED, givenUpAt: null }], 'queued'],
      [[{ attempt: 2, ended: null, givenUpAt: 1 }], 'queued'],
    ] as const) {
      const { state, run } = storyBench({ confirmed: true, state: 'running', attempt: 3 });
      state.earlier = earlier as unknown as Attempt[];
      state.events = killed;
      assert.equal(await run().done, led);
    }
  });

  test('fails what can never be launched, and tries a fenced one again', async () => {
    const refused = storyBench();
    refused.state.launch = fails('invalid');
    assert.equal(await refused.run().done, 'failed');
    const fenced = storyBench();
    fenced.state.launch = async () => ({ outcome: 'fenced', fencingAttempt: 2, reason: 'r' });
    assert.equal(await fenced.run().done, 'queued');
    assert.match(fenced.state.decision?.reason ?? '', /fenced by attempt 2: r/);
  });

  test('gives up a launch under way when the experiment is cancelled', async () => {
    const { state, calls, run } = storyBench();
    const launching = Promise.withResolvers<LaunchOutcome>();
    state.launch = async () => {
      story.cancel();
      launching.reject(new RayWorkerError('aborted', 'given up'));
      return await launching.promise;
    };
    const story = run();
    assert.equal(await story.done, 'cancelled');
    assert.deepEqual(calls, ['launch 1', 'stop 1 grace 7', 'end cancelled']);
  });

  test('hands over between two events, without an end', async () => {
    const { state, calls, run } = storyBench();
    state.events = silence;
    const story = run();
    await until(() => calls.includes('attach 1 after 0'), 'it is followed');
    story.handOver();
    assert.equal(await story.done, null);
    assert.ok(!calls.some((call) => call.startsWith('end') || call.startsWith('stop')));
  });
});
