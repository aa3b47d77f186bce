import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { isFinal } from '../../../src/core/states.ts';
import type { Experiment } from '../../../src/schemas/experiment.ts';
import { assertWhole, historyOf } from '../../support/history.ts';
import { lastMetrics, recordedResponses, startScriptedAgent } from '../../support/scripted-agent.ts';
import {
  processesOf,
  processesWith,
  type RoleProcess,
  type System,
  startSystem,
} from '../../support/system.ts';

const LEASE_MS = 2_500;

/** Enough steps for a fault in the middle of a training also on a busy machine, and few enough to end soon. */
const STEPS = 20;
const SLOW = {
  name: 'slow',
  engine: 'local',
  estimator: { name: 'hgpo', historyLength: 2 },
  rollout: { groups: 2, groupSize: 4 },
  training: { steps: STEPS, saveEvery: 2, stepDelaySeconds: 0.3 },
  evaluation: { games: 4 },
};

const commandLine = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'utf8');
const ended = ({ state, verification }: Experiment) => isFinal(state) && verification.status === 'complete';
const atStep = (step: number) => (experiment: Experiment) =>
  experiment.state === 'running' && experiment.progress.step >= step;
/** As {@link atStep}, where the training may be over by the time that this returns. */
const hasDone = (step: number) => (experiment: Experiment) => experiment.progress.step >= step;

describe('processes are killed while a training runs on Ray', () => {
  let system: System;
  let dispatcher: RoleProcess;
  before(async () => {
    system = await startSystem({ leaseMs: LEASE_MS });
    dispatcher = await system.startDispatcher();
  });
  after(() => system?.stop());

  /** Drivers of an experiment: the training's own process, not what it started on Ray. */
  const driverOf = (id: string): Promise<number[]> =>
    processesOf(id).then((pids) => pids.filter((pid) => commandLine(pid).includes('engines.local')));

  async function assertNoOtherThan(driver: number | undefined, id: string): Promise<void> {
    assert.ok(driver !== undefined, 'it had a driver');
    for (const pid of await driverOf(id)) assert.equal(pid, driver, 'another driver than before');
  }

  async function assertSucceededOnce(id: string): Promise<void> {
    const experiment = await system.until(id, 'the end', ended, 120_000);
    assert.equal(experiment.state, 'succeeded', experiment.reason);
    assert.equal(experiment.attempt, 1);
    const { rowsSeen, rowsVerified, wrong, batches } = experiment.verification;
    // The tenth and the twentieth optimizer step are batches too.
    assert.deepEqual([batches, rowsVerified, wrong], [STEPS + STEPS / 10, rowsSeen, 0]);
    assert.deepEqual([...assertWhole(await historyOf(system.client, id)).keys()], [1]);
    assert.deepEqual(await processesOf(id), []);
  }

  test('kill -9 of the dispatcher: the training continues, a second dispatcher attaches, one launch', async () => {
    const { id } = await system.submit(SLOW);
    await system.until(id, 'step 2', atStep(2));
    const [driver] = await driverOf(id);
    dispatcher.kill('SIGKILL');
    await dispatcher.ended;
    dispatcher = await system.startDispatcher();
    await system.until(id, 'step 6', hasDone(6));
    await assertNoOtherThan(driver, id);
    await assertSucceededOnce(id);
  });

  test('kill -9 of the api: nothing stops, and its streams resume after the last event', async () => {
    const { id } = await system.submit(SLOW);
    const watched = historyOf(system.client, id);
    await system.until(id, 'step 2', atStep(2));
    system.api.kill('SIGKILL');
    await system.api.ended;
    await system.startApi();
    await assertSucceededOnce(id);
    assert.deepEqual(
      await watched,
      await historyOf(system.client, id),
      'the stream that was cut is another one',
    );
  });

  test('kill -9 of the ray-worker actor: supervisor and driver live, events continue', async () => {
    const { id } = await system.submit(SLOW);
    await system.until(id, 'step 2', atStep(2));
    const [driver] = await driverOf(id);
    // Other tests may have a Ray of their own at the same time.
    const ofThisRay = await processesWith(`RAY_AUTH_TOKEN=${system.stack.cluster.rayToken}`);
    const actors = ofThisRay.filter((pid) => commandLine(pid).includes('ray::RayWorker'));
    assert.ok(actors.length > 0, 'no actor was found');
    for (const pid of actors) process.kill(pid, 'SIGKILL');
    await system.until(id, 'step 8', hasDone(8));
    await assertNoOtherThan(driver, id);
    await assertSucceededOnce(id);
  });

  test('kill -9 of the driver: attempt 2 resumes from the checkpoint', async () => {
    const { id } = await system.submit(SLOW);
    await system.until(id, 'a checkpoint', ({ checkpoint }) => (checkpoint?.step ?? 0) >= 4);
    for (const pid of await driverOf(id)) process.kill(pid, 'SIGKILL');
    const experiment = await system.until(id, 'the end', ended, 120_000);
    assert.deepEqual([experiment.state, experiment.attempt], ['succeeded', 2], experiment.reason);
    const history = await historyOf(system.client, id);
    assert.deepEqual([...assertWhole(history).keys()], [1, 2]);
    const trained = (attempt: number) =>
      history.flatMap(({ id: at, event }) =>
        at.startsWith(`${attempt}-`) && event.type === 'batch' && event.index === 0 ? [event.step] : [],
      );
    const resumedAt = trained(2)[0]!;
    assert.ok(resumedAt > 4 && resumedAt <= trained(1).at(-1)! + 1, `resumed at ${resumedAt}`);
    assert.equal(trained(2).at(-1), STEPS);
    assert.deepEqual(await processesOf(id), []);
  });

  test('kill -9 of the dispatcher and of the driver of a prompted evaluation: no paid call is repeated', async (t) => {
    const agent = await startScriptedAgent();
    t.after(() => agent.stop());
    const { id } = await system.submit({
      name: 'prompted',
      engine: 'prompt',
      model: { baseUrl: agent.baseUrl, name: 'scripted', price: { input: 1, output: 2 } },
      method: { name: 'reflexion', trials: 2 },
      environment: { historyLength: 16 },
      evaluation: { games: 12 },
    });
    /** Calls wait unanswered, and every answer is recorded. */
    const hold = async (paid: number) => {
      await agent.until(`${paid} answers`, (counts) => counts.paid >= paid);
      await agent.hold(true);
      const settled = async (counts: { inFlight: number; held: number; paid: number }) =>
        counts.held > 0 &&
        counts.held === counts.inFlight &&
        (await recordedResponses(system.stack.cluster.sharedRoot, id)) === counts.paid;
      await agent.until('only held calls', settled);
    };
    await hold(20);
    dispatcher.kill('SIGKILL');
    await dispatcher.ended;
    dispatcher = await system.startDispatcher();
    await agent.hold(false);
    await hold(60);
    const [driver, ...others] = (await processesOf(id)).filter((pid) =>
      commandLine(pid).includes('engines.prompt'),
    );
    assert.deepEqual(others, []);
    process.kill(driver!, 'SIGKILL');
    await system.until(id, 'a second attempt', ({ attempt }) => attempt === 2);
    await agent.hold(false);
    const experiment = await system.until(id, 'the end', ended, 120_000);
    assert.deepEqual([experiment.state, experiment.attempt], ['succeeded', 2], experiment.reason);
    const { paid, repeated } = await agent.counts();
    const metrics = await lastMetrics(system.client, id);
    assert.deepEqual([repeated, metrics['calls/responses']], [0, paid]);
    assert.ok(metrics['calls/replayed']! >= 60);
    // The agent solves everything but hot things at once, and these after a reflection.
    assert.ok(metrics['val/trial_1/success_rate']! < 1);
    assert.equal(metrics['val/success_rate'], 1);
    const { wrong, errors, batches, unverifiable, rowsSeen } = experiment.verification;
    assert.deepEqual([batches, wrong, errors], [1, 0, 0]);
    assert.equal(unverifiable, rowsSeen, 'rows without advantages are not verified');
  });

  test('kill -9 and restart of Redis: nothing accepted is lost, the training ends well', async () => {
    const { id } = await system.submit(SLOW);
    await system.until(id, 'step 2', atStep(2));
    const waiting = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        system.submit({ name: `queued ${i}`, engine: 'replay', resources: { cpus: 2 } }),
      ),
    );
    await system.restartRedis();
    for (const { id: queued } of waiting) await system.until(queued, 'known', () => true);
    await assertSucceededOnce(id);
    for (const { id: queued } of waiting) {
      const experiment = await system.until(queued, 'the end', ended, 60_000);
      assert.deepEqual([experiment.state, experiment.attempt], ['succeeded', 1], experiment.reason);
    }
  });
});
