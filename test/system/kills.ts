import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { ReceivedEvent } from '../../src/cli/client.ts';
import { isFinal } from '../../src/core/states.ts';
import type { Experiment } from '../../src/schemas/experiment.ts';
import { assertWhole, historyOf } from '../support/history.ts';
import { lastMetrics, recordedResponses, startScriptedAgent } from '../support/scripted-agent.ts';
import { processesOf, processesWith, type System } from '../support/system.ts';
import type { OnRay } from './main-path.test.ts';

const SLOW = {
  name: 'slow',
  engine: 'local',
  estimator: { name: 'hgpo', historyLength: 2 },
  rollout: { groups: 2, groupSize: 4 },
  // Longer than any test: each ends it by a cancel.
  training: { steps: 2_000, saveEvery: 2, stepDelaySeconds: 0.3 },
  evaluation: { games: 4 },
};

/** Empty if the process has ended since it was listed. */
function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
const ended = ({ state, verification }: Experiment) => isFinal(state) && verification.status === 'complete';
const atStep = (step: number) => (experiment: Experiment) =>
  experiment.state === 'running' && experiment.progress.step >= step;

/** The tests of killed processes, on a running system whose dispatcher they replace. */
export function testKills(onRay: OnRay): void {
  let system: System;
  before(() => {
    ({ system } = onRay);
  });

  /** Drivers of an experiment: the training's own process, not what it started on Ray. */
  const driverOf = (id: string): Promise<number[]> =>
    processesOf(id).then((pids) => pids.filter((pid) => commandLine(pid).includes('engines.local')));

  async function cancelled(id: string): Promise<Experiment> {
    await system.client.post('/v1/experiments/{id}/cancel', { path: { id } });
    const experiment = await system.until(id, 'the end', ended);
    assert.equal(experiment.state, 'cancelled', experiment.reason);
    assert.deepEqual(await processesOf(id), []);
    return experiment;
  }

  describe('one training through all faults', () => {
    let id: string;
    let driver: number;
    let waiting: string[] = [];
    let watched: Promise<ReceivedEvent[]>;
    const over = new AbortController();
    after(() => over.abort());
    before(async () => {
      ({ id } = await system.submit(SLOW));
      await system.until(id, 'step 2', atStep(2));
      const [only, ...others] = await driverOf(id);
      assert.ok(only !== undefined && others.length === 0, 'it has one driver');
      driver = only;
      watched = Array.fromAsync(system.client.events(id, { signal: over.signal }));
      watched.catch(() => {}); // awaited in the last test
    });

    /** Fails unless events of the same driver in the same attempt arrive that are later than the fault. */
    async function assertContinues(): Promise<void> {
      const { progress } = await system.until(id, 'an answer', () => true);
      const { attempt } = await system.until(id, 'later steps', atStep(progress.step + 3));
      assert.equal(attempt, 1);
      assert.deepEqual(await driverOf(id), [driver]);
    }

    test('kill -9 of the dispatcher: the training continues, and a second dispatcher attaches', async () => {
      await onRay.replaceDispatcher();
      await assertContinues();
    });

    test('kill -9 of the api: the training continues', async () => {
      system.api.kill('SIGKILL');
      await system.api.ended;
      await system.startApi();
      await assertContinues();
    });

    test('kill -9 of the ray-worker actor: supervisor and driver live, events continue', async () => {
      // Other tests may have a Ray of their own at the same time.
      const ofThisRay = await processesWith(`RAY_AUTH_TOKEN=${system.stack.cluster.rayToken}`);
      const actors = ofThisRay.filter((pid) => commandLine(pid).includes('ray::RayWorker'));
      assert.ok(actors.length > 0, 'no actor was found');
      for (const pid of actors) process.kill(pid, 'SIGKILL');
      await assertContinues();
    });

    test('kill -9 and restart of Redis: nothing accepted is lost, and the training continues', async () => {
      const specs = [1, 2, 3].map((i) => ({ name: `queued ${i}`, engine: 'replay', resources: { cpus: 2 } }));
      waiting = (await Promise.all(specs.map(system.submit))).map((accepted) => accepted.id);
      await system.restartRedis();
      for (const queued of waiting) await system.until(queued, 'known', () => true);
      await assertContinues();
    });

    test('after all faults the history of the training is whole, and a stream that was cut resumed after the last event', async () => {
      const { attempt, verification } = await cancelled(id);
      assert.equal(attempt, 1);
      const history = await historyOf(system.client, id);
      assert.deepEqual([...assertWhole(history).keys()], [1]);
      assert.equal(history.filter(({ event }) => event.type === 'started').length, 1, 'one launch');
      const recorded = history.filter(({ event }) => event.type === 'batch' && event.index === 0).length;
      const { rowsSeen, rowsVerified, wrong, batches } = verification;
      assert.deepEqual([batches, rowsVerified, wrong], [recorded, rowsSeen, 0]);
      assert.ok(isDeepStrictEqual(await watched, history), 'the stream that was cut is another one');
      for (const queued of waiting) {
        const experiment = await system.until(queued, 'the end', ended);
        assert.deepEqual([experiment.state, experiment.attempt], ['succeeded', 1], experiment.reason);
      }
    });
  });

  // They mostly wait.
  describe('two experiments beside each other', { concurrency: true }, () => {
    test('kill -9 of the driver: attempt 2 resumes from the checkpoint', async () => {
      const { id } = await system.submit(SLOW);
      await system.until(id, 'a checkpoint', ({ checkpoint }) => (checkpoint?.step ?? 0) >= 4);
      for (const pid of await driverOf(id)) process.kill(pid, 'SIGKILL');
      const { progress } = await system.until(id, 'attempt 2', ({ attempt }) => attempt === 2);
      await system.until(id, 'later steps', atStep(progress.step + 3));
      assert.equal((await cancelled(id)).attempt, 2);
      const history = await historyOf(system.client, id);
      assert.deepEqual([...assertWhole(history).keys()], [1, 2]);
      const trained = (attempt: number) =>
        history.flatMap(({ id: at, event }) =>
          at.startsWith(`${attempt}-`) && event.type === 'batch' && event.index === 0 ? [event.step] : [],
        );
      const resumedAt = trained(2)[0]!;
      assert.ok(resumedAt > 4 && resumedAt <= trained(1).at(-1)! + 1, `resumed at ${resumedAt}`);
      assert.ok(trained(2).at(-1)! >= progress.step + 3);
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
      await onRay.replaceDispatcher();
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
  });
}
