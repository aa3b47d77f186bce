import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RayWorkerError } from '../../../../../src/rpc/status.ts';
import { attemptBench, STOPPED, silence } from '../../../../support/attempt-bench.ts';
import { until } from '../../../../support/dispatch.ts';

describe('stopping a driver', () => {
  test('a driver that reached a limit is stopped, and the experiment fails with that reason', async () => {
    const { state, calls, run } = attemptBench({ confirmed: true, state: 'running' });
    state.events = async function* (signal) {
      yield* silence(signal);
    };
    state.stop = async () => ({ dropped: false, ended: STOPPED });
    const attempt = run();
    state.events = async function* () {
      yield { sequence: 1, at: 0, event: STOPPED };
    };
    attempt.limit('the attempt ran longer than its timeout of 1 s');
    assert.equal(await attempt.done, 'failed');
    assert.ok(calls.includes('stop 1 grace 7'), calls.join(', '));
    assert.match(
      state.decision?.reason ?? '',
      /^the attempt ran longer than its timeout of 1 s; the driver was stopped/,
    );
  });

  test('a cancelled experiment launches nothing and waits for the tombstone', async () => {
    for (const entry of [{ state: 'cancelling' as const }, {}]) {
      const { state, calls, run } = attemptBench(entry);
      state.record = 'cancelling';
      let tries = 0;
      state.stop = async () => {
        tries += 1;
        if (tries < 3) throw new RayWorkerError('unreachable', 'no answer');
        return { dropped: true, ended: null };
      };
      assert.equal(await run().done, 'cancelled');
      assert.deepEqual(calls, ['stop 1 grace 7', 'stop 1 grace 7', 'stop 1 grace 7', 'end cancelled']);
    }
  });

  test('a running experiment is cancelled only after its end was recorded', async () => {
    const { state, calls, run } = attemptBench();
    const stopped = Promise.withResolvers<void>();
    state.stop = async () => {
      stopped.resolve();
      return { dropped: false, ended: STOPPED };
    };
    state.events = async function* () {
      yield { sequence: 1, at: 0, event: { type: 'stage', name: 's', step: 0, steps: 0 } };
      await stopped.promise;
      yield { sequence: 2, at: 0, event: STOPPED };
    };
    const attempt = run();
    await until(() => calls.includes('append 1'), 'it runs');
    attempt.cancel();
    assert.equal(await attempt.done, 'cancelled');
    assert.deepEqual(calls.slice(-3), ['stop 1 grace 7', 'append 2', 'end cancelled']);
  });
});
