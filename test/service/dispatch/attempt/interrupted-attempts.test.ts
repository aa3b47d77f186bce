import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findHigher } from '../../../../src/dispatch/attempt/steps/stale.ts';
import type { AttemptStatus, RayWorkerClient } from '../../../../src/rpc/ray-worker.ts';
import { RayWorkerError } from '../../../../src/rpc/status.ts';
import { attemptBench, STOPPED, SUCCEEDED, silence } from '../../../support/attempt-bench.ts';
import { until } from '../../../support/dispatch.ts';

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

  test('a launch without an answer is not charged for a ray-worker that was lost while another launch was under way', async () => {
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

const PLACE = { experiment: 'exp-a', attempt: 2 };

function listing(...known: Partial<AttemptStatus>[]): Pick<RayWorkerClient, 'list'> {
  return { list: async () => known as AttemptStatus[] };
}
const find = (...known: Partial<AttemptStatus>[]) =>
  findHigher(listing(...known), PLACE, new AbortController().signal);

test('no higher attempt is found if the cluster knows only this and lower attempts', async () => {
  assert.equal(await find(), undefined);
  assert.equal(await find({ attempt: 2, running: true }, { attempt: 1, running: false }), undefined);
});

test('the highest attempt is found, and whether it was launched', async () => {
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

test('an unrequested stop makes the record stale if the cluster knows a higher attempt', async () => {
  const { state, run } = attemptBench({ confirmed: true, state: 'running' });
  state.events = async function* () {
    yield { sequence: 1, at: 0, event: STOPPED };
  };
  state.known = [{ attempt: 2, running: true }];
  assert.equal(await run().done, 'queued');
  const alone = attemptBench({ confirmed: true, state: 'running' });
  alone.state.events = state.events;
  assert.equal(await alone.run().done, 'queued');
  assert.equal((alone.state.decision as { attemptsAbove?: number }).attemptsAbove, undefined);
});

test('a cancel stops the higher attempt before the cancel is recorded', async () => {
  const { state, calls, run } = attemptBench({ state: 'cancelling' });
  state.record = 'cancelling';
  state.known = [{ attempt: 6, running: true }];
  assert.equal(await run().done, 'cancelled');
  assert.deepEqual(calls, ['stop 1 grace 7', 'stop 6 grace 7', 'end cancelled']);
});

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
