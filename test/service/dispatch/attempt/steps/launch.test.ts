import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LaunchOutcome } from '../../../../../src/rpc/ray-worker.ts';
import { RayWorkerError } from '../../../../../src/rpc/status.ts';
import { attemptBench, fails } from '../../../../support/attempt-bench.ts';

test('a launch on a cluster without disk space is retried, then discarded for good', async () => {
  const { state, calls, run } = attemptBench();
  state.launch = fails('exhausted');
  assert.equal(await run().done, 'queued');
  assert.deepEqual(calls.slice(-2), ['stop 1 grace 0', 'end queued']);
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

test('an attempt that already runs continues when its project loses a secret', async () => {
  const { state, run } = attemptBench({ confirmed: true, takenOver: true, state: 'running' });
  Object.assign(state, { spec: { project: 'vision', secrets: { KEY: 'wandb' } }, secretProjects: {} });
  assert.equal(await run().done, 'succeeded');
});
