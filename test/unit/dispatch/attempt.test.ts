import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EchelonError } from '../../../src/core/errors.ts';
import type { Ended, NumberedEvent } from '../../../src/core/events.ts';
import type { State } from '../../../src/core/states.ts';
import { type AttemptRun, type Entry, runAttempt } from '../../../src/dispatch/attempt.ts';
import { lostAttempt } from '../../../src/dispatch/decide.ts';
import type {
  AttemptStatus,
  LaunchOutcome,
  LaunchPlan,
  RayWorkerClient,
  StopOutcome,
} from '../../../src/rpc/ray-worker.ts';
import { RayWorkerError, type RayWorkerFault } from '../../../src/rpc/status.ts';
import type { Attempt, EndDecision, Lease } from '../../../src/store/store.ts';
import { compileTestSpec, QUIET, type TestSpec, until } from '../../support/dispatch.ts';

const PLAN: LaunchPlan = {
  engine: 'replay',
  module: 'm',
  arguments: [],
  environment: {},
  gpus: 0,
  cpus: 1,
  gracePeriodMs: 7,
  files: {},
};
const SUCCEEDED: Ended = { ...lostAttempt(''), cause: 'succeeded' };
const STOPPED: Ended = { ...lostAttempt(''), cause: 'stopped' };

/** The store and the ray-worker as one story meets them; `calls` is what it did, in order. */
function bench(entry: Partial<Omit<Entry, 'lease'>> & { attempt?: number } = {}) {
  const lease: Lease = { experiment: 'exp-a', attempt: entry.attempt ?? 1, token: 't' };
  const calls: string[] = [];
  const state = {
    record: 'launching' as State,
    confirmed: 'running' as State,
    ended: null as Ended | null,
    earlier: [] as Attempt[],
    appended: 0,
    decision: null as EndDecision | null,
    appendError: null as Error | null,
    endError: null as Error | null,
    endAnswer: null as State | null,
    known: [] as Pick<AttemptStatus, 'attempt' | 'running'>[],
    startedAt: () => 1,
    launch: async (): Promise<LaunchOutcome> => ({ outcome: 'started' }),
    stop: async (): Promise<StopOutcome> => ({ dropped: true, ended: null }),
    events: async function* (_signal: AbortSignal): AsyncGenerator<NumberedEvent> {
      yield { sequence: 1, at: 0, event: SUCCEEDED };
    },
  };
  const store = {
    async get() {
      const spec: TestSpec = { plan: PLAN, maxAttempts: 3 };
      return { state: state.record, attempt: lease.attempt, resolved: spec };
    },
    async attempts() {
      return [
        ...state.earlier,
        { attempt: lease.attempt, ended: state.ended, lastSequence: state.appended } as Attempt,
      ];
    },
    async confirm() {
      calls.push('confirm');
      return state.confirmed;
    },
    async append(_: Lease, events: readonly NumberedEvent[]) {
      if (state.appendError) throw state.appendError;
      state.appended = events.at(-1)?.sequence ?? state.appended;
      calls.push(`append ${state.appended}`);
      return state.appended;
    },
    async end(_: Lease, decision: EndDecision) {
      if (state.endError) throw state.endError;
      calls.push(`end ${decision.to}`);
      state.decision = decision;
      return state.endAnswer ?? decision.to;
    },
  };
  const client = {
    async launch(_: string, attempt: number) {
      calls.push(`launch ${attempt}`);
      return await state.launch();
    },
    attach(_: string, attempt: number, after: number, signal: AbortSignal) {
      calls.push(`attach ${attempt} after ${after}`);
      return state.events(signal);
    },
    async stop(_: string, attempt: number, { gracePeriodMs }: { gracePeriodMs: number }) {
      calls.push(`stop ${attempt} grace ${gracePeriodMs}`);
      return await state.stop();
    },
    async list() {
      return state.known;
    },
    async describe() {
      return { startedAt: state.startedAt() };
    },
  } as unknown as RayWorkerClient;
  const run = (): AttemptRun =>
    runAttempt(
      {
        store: store as unknown as Parameters<typeof runAttempt>[0]['store'],
        rayWorkerOf: async () => client,
        compile: compileTestSpec,
        log: QUIET,
        hooks: {},
        retry: { firstMs: 1, longestMs: 2 },
      },
      {
        lease,
        cluster: 'c',
        state: 'launching',
        confirmed: false,
        lastSequence: 0,
        takenOver: false,
        crashes: [],
        ...entry,
      },
    );
  return { state, calls, run };
}

const fails = (fault: RayWorkerFault) => async () => {
  throw new RayWorkerError(fault, fault);
};

/** Events that never end by themselves. */
async function* silence(signal: AbortSignal): AsyncGenerator<NumberedEvent> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

describe('the story of an attempt', () => {
  test('launches, confirms, follows and decides', async () => {
    const { calls, run } = bench();
    const story = run();
    await story.placed;
    assert.equal(await story.done, 'succeeded');
    assert.deepEqual(calls, ['launch 1', 'confirm', 'attach 1 after 0', 'append 1', 'end succeeded']);
  });

  test('fences what an expired dispatcher may have launched, and everything below it that runs', async () => {
    const { state, calls, run } = bench({ attempt: 4, takenOver: true });
    state.known = [
      { attempt: 3, running: false },
      { attempt: 2, running: true },
      { attempt: 1, running: false },
    ];
    assert.equal(await run().done, 'succeeded');
    assert.deepEqual(calls.slice(0, 3), ['stop 3 grace 0', 'stop 2 grace 0', 'launch 4']);
  });

  test('only follows an attempt that was confirmed, from what was recorded', async () => {
    const { state, calls, run } = bench({ confirmed: true, takenOver: true, state: 'running' });
    state.appended = 5;
    await run().done;
    assert.equal(calls[0], 'attach 1 after 5');
  });

  test('decides without a stream where the end was recorded by a dispatcher that died then', async () => {
    const { state, calls, run } = bench({ confirmed: true, takenOver: true, state: 'running' });
    state.ended = SUCCEEDED;
    assert.equal(await run().done, 'succeeded');
    assert.deepEqual(calls, ['end succeeded']);
  });

  test('ends a driver that reached a limit, as a failure with that reason', async () => {
    const { state, calls, run } = bench({ confirmed: true, state: 'running' });
    state.events = async function* (signal) {
      yield* silence(signal);
    };
    state.stop = async () => ({ dropped: false, ended: STOPPED });
    const story = run();
    state.events = async function* () {
      yield { sequence: 1, at: 0, event: STOPPED };
    };
    story.limit('the attempt ran longer than its timeout of 1 s');
    assert.equal(await story.done, 'failed');
    assert.ok(calls.includes('stop 1 grace 7'), calls.join(', '));
    assert.match(
      state.decision?.reason ?? '',
      /^the attempt ran longer than its timeout of 1 s; the driver was stopped/,
    );
  });

  test('lets a success stand that came before the stop', async () => {
    const { run } = bench({ confirmed: true, state: 'running' });
    const story = run();
    story.limit('its deadline has passed');
    assert.equal(await story.done, 'succeeded');
  });

  /* Fails without the look at `crashes`: the story would launch it a fourth time. */
  test('ends an experiment that ended three dispatchers, without touching what may have done it', async () => {
    const crash = { at: 0, attempt: 1, dispatcher: 'd1', state: 'launching' };
    const { state, calls, run } = bench({ attempt: 4, takenOver: true, crashes: [crash, crash, crash] });
    assert.equal(await run().done, 'failed');
    assert.deepEqual(calls, ['stop 4 grace 0', 'end failed']);
    assert.ok(state.decision?.to === 'failed' && state.decision.quarantined);
    assert.match(
      state.decision.reason,
      /^quarantined after 3 crashes: dispatcher d1 was lost as it launched attempt 1/,
    );
    const { calls: spared, run: goOn } = bench({ attempt: 3, takenOver: true, crashes: [crash, crash] });
    assert.equal(await goOn().done, 'succeeded');
    assert.ok(spared.includes('launch 3'));
  });

  /* Fails without watchRestarts: the ray-worker is ended for ever. */
  test('gives up a launch that ends the ray-worker again and again', async () => {
    const { state, calls, run } = bench();
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

  test('launches again after an unclear answer, however often', async () => {
    const { state, calls, run } = bench();
    let times = 0;
    state.launch = async () => {
      times += 1;
      if (times < 4) throw new RayWorkerError('unreachable', 'no answer');
      return { outcome: 'already-running' };
    };
    assert.equal(await run().done, 'succeeded');
    assert.equal(calls.filter((call) => call === 'launch 1').length, 4);
  });

  test('gives a cluster that is out of disk some tries, then sees to it that nothing starts later', async () => {
    const { state, calls, run } = bench();
    state.launch = fails('exhausted');
    assert.equal(await run().done, 'queued');
    assert.deepEqual(calls.slice(-2), ['stop 1 grace 0', 'end queued']);
  });

  test('goes behind the attempt that the cluster knows, and launches nothing in its place', async () => {
    const { state, calls, run } = bench();
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

  test('takes a stop that nobody asked for as the sign of a higher attempt, where there is one', async () => {
    const { state, run } = bench({ confirmed: true, state: 'running' });
    state.events = async function* () {
      yield { sequence: 1, at: 0, event: STOPPED };
    };
    state.known = [{ attempt: 2, running: true }];
    assert.equal(await run().done, 'queued');
    const alone = bench({ confirmed: true, state: 'running' });
    alone.state.events = state.events;
    assert.equal(await alone.run().done, 'queued');
    assert.equal((alone.state.decision as { attemptsAbove?: number }).attemptsAbove, undefined);
  });

  test('counts no attempt that was stopped in good order', async () => {
    const killed = async function* () {
      yield { sequence: 1, at: 0, event: { ...lostAttempt(''), cause: 'killed' } as Ended };
    };
    for (const [earlier, led] of [
      [[], 'failed'],
      [[{ attempt: 2, ended: STOPPED }], 'queued'],
    ] as const) {
      const { state, run } = bench({ confirmed: true, state: 'running', attempt: 3 });
      state.earlier = earlier as unknown as Attempt[];
      state.events = killed;
      assert.equal(await run().done, led);
    }
  });

  test('a cancel ends the higher attempt too, before it is recorded', async () => {
    const { state, calls, run } = bench({ state: 'cancelling' });
    state.record = 'cancelling';
    state.known = [{ attempt: 6, running: true }];
    assert.equal(await run().done, 'cancelled');
    assert.deepEqual(calls, ['stop 1 grace 7', 'stop 6 grace 7', 'end cancelled']);
  });

  test('a cancel that comes while it goes behind a higher attempt ends that attempt', async () => {
    const { state, calls, run } = bench();
    state.launch = async () => ({ outcome: 'fenced', fencingAttempt: 4, reason: 'r' });
    state.known = [{ attempt: 4, running: true }];
    state.endAnswer = 'cancelling';
    assert.equal(await run().done, 'cancelled');
    assert.deepEqual(calls, ['launch 1', 'end queued', 'stop 4 grace 0', 'end cancelled']);
  });

  test('fails what can never be launched, and tries a fenced one again', async () => {
    const refused = bench();
    refused.state.launch = fails('invalid');
    assert.equal(await refused.run().done, 'failed');
    const fenced = bench();
    fenced.state.launch = async () => ({ outcome: 'fenced', fencingAttempt: 2, reason: 'r' });
    assert.equal(await fenced.run().done, 'queued');
    assert.match(fenced.state.decision?.reason ?? '', /fenced by attempt 2: r/);
  });

  test('of a cancelled experiment launches nothing and waits for the tombstone', async () => {
    for (const entry of [{ state: 'cancelling' as const }, {}]) {
      const { state, calls, run } = bench(entry);
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

  test('gives up a launch under way when the experiment is cancelled', async () => {
    const { state, calls, run } = bench();
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

  test('cancels a running one only after its end was recorded', async () => {
    const { state, calls, run } = bench();
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
    const story = run();
    await until(() => calls.includes('append 1'), 'it runs');
    story.cancel();
    assert.equal(await story.done, 'cancelled');
    assert.deepEqual(calls.slice(-3), ['stop 1 grace 7', 'append 2', 'end cancelled']);
  });

  test('stops an attempt that cannot be followed any more, then gives it another try', async () => {
    for (const fault of ['unknown-attempt', 'ahead', 'damaged'] as const) {
      const { state, calls, run } = bench();
      // biome-ignore lint/correctness/useYield: it fails before its first event
      state.events = async function* () {
        throw new RayWorkerError(fault, fault);
      };
      assert.equal(await run().done, 'queued');
      assert.deepEqual(calls.slice(-2), ['stop 1 grace 0', 'end queued']);
    }
  });

  test('resumes a broken stream from what the store recorded', async () => {
    const { state, calls, run } = bench();
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

  test('touches nothing once the lease is lost', async () => {
    const { state, calls, run } = bench();
    state.events = silence;
    const story = run();
    await story.placed;
    await until(() => calls.includes('attach 1 after 0'), 'it is followed');
    const before = [...calls];
    story.drop();
    story.cancel();
    assert.equal(await story.done, null);
    assert.deepEqual(calls, before);
    const refused = bench();
    refused.state.appendError = new EchelonError('lease-lost', 'lost');
    assert.equal(await refused.run().done, null);
    assert.ok(!refused.calls.some((call) => call.startsWith('end') || call.startsWith('stop')));
  });

  test('hands over between two events, without an end', async () => {
    const { state, calls, run } = bench();
    state.events = silence;
    const story = run();
    await until(() => calls.includes('attach 1 after 0'), 'it is followed');
    story.handOver();
    assert.equal(await story.done, null);
    assert.ok(!calls.some((call) => call.startsWith('end') || call.startsWith('stop')));
  });

  test('waits out a store that is away', async () => {
    const { state, run } = bench();
    state.appendError = new EchelonError('store-unavailable', 'away');
    state.endError = new EchelonError('store-unavailable', 'away');
    const story = run();
    await story.placed;
    state.appendError = null;
    state.endError = null;
    assert.equal(await story.done, 'succeeded');
  });
});
