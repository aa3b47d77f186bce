import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EchelonError } from '../../../../src/core/errors.ts';
import type { Ended } from '../../../../src/core/events.ts';
import { type LaunchPlan, STORE_FILE } from '../../../../src/core/launch-plan.ts';
import { lostAttempt } from '../../../../src/dispatch/attempt/decide.ts';
import type { AttemptStatus, LaunchOutcome } from '../../../../src/rpc/ray-worker.ts';
import { RayWorkerError } from '../../../../src/rpc/status.ts';
import type { Attempt } from '../../../../src/store/attempts/types.ts';
import { attemptBench, fails, STOPPED, SUCCEEDED, silence } from '../../../support/attempt-bench.ts';
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

describe('the context of an attempt', () => {
  test('after the lease is lost, settle writes nothing', async () => {
    const { state, calls, run } = attemptBench();
    state.events = silence;
    const attempt = run();
    await attempt.placed;
    await until(() => calls.includes('attach 1 after 0'), 'it is followed');
    const before = [...calls];
    attempt.drop();
    attempt.cancel();
    assert.equal(await attempt.done, null);
    assert.deepEqual(calls, before);
    const refused = attemptBench();
    refused.state.appendError = new EchelonError('lease-lost', 'lost');
    assert.equal(await refused.run().done, null);
    assert.ok(!refused.calls.some((call) => call.startsWith('end') || call.startsWith('stop')));
  });

  test('an answer to a launch, good or bad, and a full lease time settle the attempt', async () => {
    const refused = attemptBench();
    refused.state.launch = fails('exhausted');
    await refused.run().done;
    assert.equal(refused.state.settled, 1);
    const waiting = attemptBench();
    waiting.state.launch = () => new Promise<never>(() => {});
    const attempt = waiting.run();
    await until(() => waiting.calls.includes('launch 1'), 'it is being launched');
    attempt.renewed(60_000);
    assert.equal(waiting.state.settled, 0);
    attempt.renewed(-1);
    attempt.renewed(-1);
    assert.equal(waiting.state.settled, 1);
    attempt.drop();
  });
});

test('a step is retried until the store is back', async () => {
  const { state, run } = attemptBench();
  state.appendError = new EchelonError('store-unavailable', 'away');
  state.endError = new EchelonError('store-unavailable', 'away');
  const attempt = run();
  await attempt.placed;
  state.appendError = null;
  state.endError = null;
  assert.equal(await attempt.done, 'succeeded');
});

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

test('a launch on a cluster without disk space is retried, then discarded for good', async () => {
  const { state, calls, run } = attemptBench();
  state.launch = fails('exhausted');
  assert.equal(await run().done, 'queued');
  assert.deepEqual(calls.slice(-2), ['stop 1 grace 0', 'end queued']);
});

test('a ray-worker of another version is a fault of the cluster, and is not asked for what it would misread', async () => {
  const refused = attemptBench();
  refused.state.launch = fails('version');
  assert.equal(await refused.run().done, 'queued');
  assert.deepEqual(refused.calls, ['launch 1', 'stop 1 grace 0', 'end queued']);
  const older = attemptBench();
  older.state.specVersions = [];
  assert.equal(await older.run().done, 'queued');
  assert.deepEqual(older.calls, ['stop 1 grace 0', 'end queued']);
  assert.match(
    older.state.decision!.reason,
    /^attempt 1, cluster fault 1 of at most \d+: .*the ray-worker of c \(0\.9\) runs launch plans of an older version, .*: update the older of the two; it will be tried again/,
  );
  // It may run since before the ray-worker was replaced: the launch says so.
  const takenOver = attemptBench({ takenOver: true });
  takenOver.state.specVersions = [];
  takenOver.state.launch = async () => ({ outcome: 'already-running' });
  assert.equal(await takenOver.run().done, 'succeeded');
});

test('a refused launch fails the experiment; a fenced launch leads to another attempt', async () => {
  const refused = attemptBench();
  refused.state.launch = fails('invalid');
  assert.equal(await refused.run().done, 'failed');
  const fenced = attemptBench();
  fenced.state.launch = async () => ({ outcome: 'fenced', fencingAttempt: 2, reason: 'r' });
  assert.equal(await fenced.run().done, 'queued');
  assert.match(fenced.state.decision?.reason ?? '', /fenced by attempt 2: r/);
});

test('a cancel ends a launch under way', async () => {
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

test('the plan of a launch has the variables of the cluster', async () => {
  const { state, deps, run } = attemptBench();
  state.clusterEnv = { HF_HOME: '/shared/huggingface' };
  const { compile } = deps;
  const given: unknown[] = [];
  deps.compile = (spec, clusterEnv) => {
    given.push(clusterEnv);
    return compile(spec);
  };
  assert.equal(await run().done, 'succeeded');
  assert.deepEqual(given[0], state.clusterEnv);
});

/* Fails without the stop: the driver that the lost dispatcher launched would outlive the end of its experiment. */
test('a taken-over attempt that cannot be launched is stopped, because it may have been launched', async () => {
  for (const cannot of ['compile', 'launch']) {
    const { state, calls, deps, run } = attemptBench({ takenOver: true });
    if (cannot === 'launch') state.launch = fails('invalid');
    else
      deps.compile = () => {
        throw new Error('an engine of a newer version');
      };
    assert.equal(await run().done, 'failed');
    assert.deepEqual(calls.slice(-2), ['stop 1 grace 0', 'end failed']);
  }
});

/* Fails if only the submission looks at the list of the cluster. */
test('an attempt whose project lost a secret after the submission is not launched', async () => {
  const { state, calls, run } = attemptBench();
  state.spec = { project: 'vision', secrets: { WANDB_API_KEY: 'wandb' } };
  state.secretProjects = { wandb: ['speech'] };
  assert.equal(await run().done, 'failed');
  assert.deepEqual(calls, ['end failed']);
  assert.match(
    state.decision?.reason ?? '',
    /\/secrets\/WANDB_API_KEY names wandb, which is no secret that .* vision/,
  );
  const listed = attemptBench();
  Object.assign(listed.state, { spec: state.spec, secretProjects: { wandb: ['speech', 'vision'] } });
  assert.equal(await listed.run().done, 'succeeded');
});

test('an attempt whose project lost its checkpoint store is not launched, and its plan names the uploads that Echelon recorded', async () => {
  const { state, run } = attemptBench();
  state.spec = { project: 'vision', checkpointStore: { url: 's3://runs/x' } };
  state.checkpointStores = { 's3://runs': ['speech'] };
  assert.equal(await run().done, 'failed');
  assert.match(state.decision?.reason ?? '', /\/checkpointStore\/url is not below an object store/);
  const listed = attemptBench();
  const storedCheckpoints = [1, 2, 1].map((step, at) => ({ step, manifest: `${at}`.repeat(64) }));
  const checkpointStores = { 's3://runs': ['*'] };
  Object.assign(listed.state, { spec: state.spec, checkpointStores, storedCheckpoints });
  const { compile } = listed.deps;
  listed.deps.compile = (...input) => {
    const plan = compile(...input);
    return { ...plan, files: { ...plan.files, [STORE_FILE]: '{}' } };
  };
  const plans: LaunchPlan[] = [];
  const { launch } = listed.state;
  listed.state.launch = async (plan) => {
    plans.push(plan);
    return await launch(plan);
  };
  assert.equal(await listed.run().done, 'succeeded');
  const known = JSON.parse(String(plans[0]!.files['stored-checkpoints.json']));
  assert.deepEqual(known, { 1: '2'.repeat(64), 2: '1'.repeat(64) });
});

test('an attempt that already runs continues when its project loses a secret', async () => {
  const { state, run } = attemptBench({ confirmed: true, takenOver: true, state: 'running' });
  Object.assign(state, { spec: { project: 'vision', secrets: { KEY: 'wandb' } }, secretProjects: {} });
  assert.equal(await run().done, 'succeeded');
});

test('stopped attempts and faults of the cluster are not counted as faults of the program', async () => {
  const killed = async function* () {
    yield { sequence: 1, at: 0, event: { ...lostAttempt(''), cause: 'killed' } as Ended };
  };
  const first = { attempt: 1, ended: { ...STOPPED, cause: 'killed' } };
  for (const [earlier, led] of [
    [[first, { ...first, attempt: 2 }], 'failed'],
    [[first, { attempt: 2, ended: null }], 'failed'],
    [[first, { attempt: 2, ended: STOPPED }], 'queued'],
    [[first, { attempt: 2, ended: { ...STOPPED, cause: 'node-lost' } }], 'queued'],
  ] as const) {
    const { state, run } = attemptBench({ confirmed: true, state: 'running', attempt: 3 });
    state.earlier = earlier as unknown as Attempt[];
    state.events = killed;
    assert.equal(await run().done, led);
  }
});

test('a stale record gets the attempt number that the cluster knows, and nothing is launched in its place', async () => {
  const { state, calls, run } = attemptBench();
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

test('a tombstone above the record gives the next attempt a higher number', async () => {
  const { state, run } = attemptBench();
  state.launch = async () => ({ outcome: 'fenced', fencingAttempt: 4, reason: 'r' });
  state.known = [{ attempt: 4, running: false, tombstone: true } as AttemptStatus];
  assert.equal(await run().done, 'queued');
  assert.equal((state.decision as { attemptsAbove?: number }).attemptsAbove, 4);
});

test('a cancel while a stale record is corrected stops the higher attempt', async () => {
  const { state, calls, run } = attemptBench();
  state.launch = async () => ({ outcome: 'fenced', fencingAttempt: 4, reason: 'r' });
  state.known = [{ attempt: 4, running: true }];
  state.endAnswer = 'cancelling';
  assert.equal(await run().done, 'cancelled');
  assert.deepEqual(calls, ['launch 1', 'end queued', 'stop 4 grace 0', 'end cancelled']);
});
