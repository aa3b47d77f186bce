import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AttemptStatus } from '../../../../../src/rpc/ray-worker.ts';
import { RayWorkerError } from '../../../../../src/rpc/status.ts';
import { attemptBench, SUCCEEDED } from '../../../../support/attempt-bench.ts';
import { until } from '../../../../support/dispatch.ts';

describe('following the events of an attempt', () => {
  test('a confirmed attempt is followed from its last recorded event and not launched', async () => {
    const { state, calls, run } = attemptBench({ confirmed: true, takenOver: true, state: 'running' });
    state.appended = 5;
    await run().done;
    assert.equal(calls[0], 'attach 1 after 5');
  });

  test('an end that a dead dispatcher recorded is decided without a stream', async () => {
    const { state, calls, run } = attemptBench({ confirmed: true, takenOver: true, state: 'running' });
    state.ended = SUCCEEDED;
    assert.equal(await run().done, 'succeeded');
    assert.deepEqual(calls, ['end succeeded']);
  });

  /* Fails where a quiet training counts as being taken over until its next event. */
  test('a takeover settles a quiet attempt at once, and any other after its first recorded events', async () => {
    for (const [lastSequence, before] of [
      [5, 1],
      [6, 0],
    ] as const) {
      const { state, calls, run } = attemptBench({ confirmed: true, takenOver: true, state: 'running' });
      state.appended = 5;
      state.known = [{ attempt: 1, running: true, lastSequence } as AttemptStatus];
      const next = Promise.withResolvers<void>();
      state.events = async function* () {
        await next.promise;
        yield { sequence: 6, at: 0, event: SUCCEEDED };
      };
      const attempt = run();
      await until(() => calls.includes('attach 1 after 5'), 'it is followed');
      await new Promise(setImmediate);
      assert.equal(state.settled, before);
      next.resolve();
      assert.equal(await attempt.done, 'succeeded');
      assert.equal(state.settled, 1);
    }
  });

  test('an attempt that cannot be followed is stopped, and another attempt follows', async () => {
    for (const fault of ['unknown-attempt', 'ahead', 'damaged'] as const) {
      const { state, calls, run } = attemptBench();
      // biome-ignore lint/correctness/useYield: it fails before its first event
      state.events = async function* () {
        throw new RayWorkerError(fault, fault);
      };
      assert.equal(await run().done, 'queued');
      assert.deepEqual(calls.slice(-2), ['stop 1 grace 0', 'end queued']);
    }
  });

  test('resumes a broken stream from what the store recorded', async () => {
    const { state, calls, run } = attemptBench();
    let streams = 0;
    state.events = async function* () {
      streams += 1;
      if (streams > 1) return yield { sequence: 2, at: 0, event: SUCCEEDED };
      yield { sequence: 1, at: 0, event: { type: 'stage', name: 's', step: 0, steps: 0 } };
      throw new RayWorkerError('unreachable', 'cut');
    };
    assert.equal(await run().done, 'succeeded');
    assert.deepEqual(calls.slice(2, 5), ['attach 1 after 0', 'append 1', 'attach 1 after 1']);
  });
});
