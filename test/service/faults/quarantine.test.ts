import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newExperimentId } from '../../../src/core/ids.ts';
import type { Experiment } from '../../../src/schemas/experiment.ts';
import { assertWholeStream, type Bench, startBench, until } from '../../support/dispatch.ts';
import { type DispatcherProcess, startDispatcherProcess } from '../../support/dispatcher-processes.ts';
import { ENDLESS } from '../../support/fake-driver.ts';

type Options = Omit<Parameters<typeof startDispatcherProcess>[2], 'id'>;

/** Short, so that many lost leases fit into a test. */
const LEASE_MS = 900;
const QUIET_EXPERIMENTS = 6;

describe('experiments that share dispatchers which die again and again', () => {
  let bench: Bench;
  before(async () => {
    bench = await startBench({ cpus: 32 });
  });
  after(() => bench.stop());

  const launchesOf = (id: string) => bench.rayWorker.launches().filter((line) => line.experiment === id);
  const runsNow = (id: string) => bench.rayWorker.running().some((line) => line.experiment === id);
  const holderOf = async (id: string) => await bench.redis.hget(`{echelon}:x:${id}`, 'dispatcher');

  /** Trainings in a long step, without an event. */
  async function startQuiet(count = QUIET_EXPERIMENTS): Promise<string[]> {
    return await Promise.all(Array.from({ length: count }, () => bench.submit({ hang: true, steps: 2 })));
  }

  /** Ends them, and proves that nothing ever happened to them. */
  async function endsWell(ids: readonly string[], attempts = 1): Promise<void> {
    for (const id of ids) {
      await until(() => runsNow(id), `${id} runs`);
      bench.rayWorker.finish(id);
    }
    for (const id of ids) {
      const { quarantined, attempt, reason } = await bench.reaches(id, 'succeeded');
      assert.equal(quarantined, false, reason);
      assert.ok(attempt <= attempts, `${id}: attempt ${attempt}`);
      assert.equal(await assertWholeStream(bench.store, id, attempt), bench.rayWorker.sent(id, attempt));
    }
    assert.equal(bench.rayWorker.overlaps(), 0);
  }

  /** Starts a dispatcher in the place of each that ended by itself. */
  function keepAlive(t: Parameters<typeof startDispatcherProcess>[1], options: Options) {
    let started = 0;
    let over = false;
    let present: DispatcherProcess | undefined;
    const loop = (async () => {
      while (!over) {
        started += 1;
        present = await startDispatcherProcess(bench, t, {
          id: `${newExperimentId()}-${started}`,
          ...options,
        });
        await present.exited;
      }
    })();
    loop.catch(() => {});
    return {
      deaths: () => started - 1,
      async end() {
        over = true;
        present?.kill('SIGKILL');
        await loop;
      },
    };
  }

  test('quiet trainings succeed in their first attempt while their dispatchers die', async (t) => {
    const first = await startDispatcherProcess(bench, t, { id: 'first', leaseMs: LEASE_MS });
    const ids = await startQuiet();
    await Promise.all(ids.map((id) => bench.reaches(id, 'running')));
    first.kill('SIGKILL');
    await first.exited;
    // Killed at different moments of a takeover: as it begins, in between, and when all are in hand.
    for (const wanted of [1, 2, QUIET_EXPERIMENTS]) {
      const id = `looping-${newExperimentId()}`;
      const next = await startDispatcherProcess(bench, t, { id, leaseMs: LEASE_MS });
      const taken = async () =>
        (await Promise.all(ids.map(holderOf))).filter((holder) => holder === id).length;
      await until(async () => (await taken()) >= wanted, `${wanted} are taken over`);
      next.kill('SIGKILL');
      await next.exited;
      assert.ok(ids.every(runsNow), 'no driver was stopped');
    }
    await startDispatcherProcess(bench, t, { id: 'last', leaseMs: LEASE_MS });
    await endsWell(ids);
  });

  test('a launch that kills each dispatcher is quarantined alone, and other experiments continue', async (t) => {
    const poison = newExperimentId();
    const fleet = keepAlive(t, { leaseMs: LEASE_MS, diesAtLaunchOf: poison });
    const quiet = await startQuiet();
    await Promise.all(quiet.map((id) => bench.reaches(id, 'running')));
    const beside = await Promise.all([
      bench.submit({ hang: true }, { id: poison, maxAttempts: 20 }),
      ...Array.from({ length: 4 }, () => bench.submit({ hang: true, steps: 2 })),
    ]);
    const record = await bench.reaches(poison, 'failed');
    assert.equal(record.quarantined, true);
    assert.match(
      record.reason,
      /^quarantined after 3 crashes: dispatcher \S+ was lost as it launched attempt \d \(/,
    );
    assert.equal(launchesOf(poison).length, 0);
    // One with all that it had in hand, and those that had it alone.
    assert.ok(fleet.deaths() >= 3 && fleet.deaths() <= 4, `${fleet.deaths()} dispatchers died`);
    await endsWell(quiet);
    await endsWell(beside.slice(1), 3);
    await fleet.end();
  });

  test('a driver whose events kill each dispatcher is never stopped, and its end is recorded', async (t) => {
    const poison = newExperimentId();
    const quietBefore = await startDispatcherProcess(bench, t, { id: 'harmless', leaseMs: LEASE_MS });
    await bench.submit({ steps: ENDLESS, delayMs: 20 }, { id: poison });
    const quiet = await startQuiet(3);
    await Promise.all([poison, ...quiet].map((id) => bench.reaches(id, 'running')));
    quietBefore.kill('SIGKILL');
    await quietBefore.exited;
    const fleet = keepAlive(t, { leaseMs: LEASE_MS, diesAtEventsOf: poison });
    const inQuarantine = ({ quarantined }: Experiment) => quarantined;
    await bench.comes(poison, 'is in quarantine', inQuarantine);
    assert.ok(runsNow(poison));
    assert.equal((await bench.store.experiments.get(poison))?.state, 'running');
    await endsWell(quiet);
    assert.ok(fleet.deaths() >= 3 && fleet.deaths() <= 4, `${fleet.deaths()} dispatchers died`);
    bench.rayWorker.finish(poison);
    const { reason } = await bench.reaches(poison, 'succeeded');
    assert.match(
      reason,
      /quarantined after 3 crashes: .* took over attempt 1 .*; its events since then were not read$/,
    );
    await fleet.end();
  });

  test('a quarantined launch leaves no driver, and the events of one that ran are recorded', async (t) => {
    const id = newExperimentId();
    let asked = 0;
    bench.rayWorker.onLaunch = async ({ experiment }) => {
      if (experiment === id) asked += 1;
    };
    bench.rayWorker.launchFault = 'never-answer';
    await bench.submit({ hang: true, steps: 2 }, { id, maxAttempts: 20 });
    for (let round = 1; round <= 3; round += 1) {
      const victim = await startDispatcherProcess(bench, t, { id: `victim-${round}`, leaseMs: LEASE_MS });
      await until(() => asked >= round, `dispatcher ${round} asked for the launch`);
      victim.kill('SIGKILL');
      await victim.exited;
    }
    bench.rayWorker.launchFault = 'none';
    await startDispatcherProcess(bench, t, { id: 'survivor', leaseMs: LEASE_MS });
    const record = await bench.reaches(id, 'failed');
    assert.equal(record.quarantined, true);
    assert.equal(runsNow(id), false);
    assert.deepEqual([record.attempt, launchesOf(id).length], [1, 1]);
    assert.equal(await assertWholeStream(bench.store, id, 1), bench.rayWorker.sent(id, 1));
    assert.ok(bench.rayWorker.sent(id, 1) > 4);
    assert.equal((await bench.store.attempts.list(id)).at(-1)?.ended?.cause, 'stopped');
  });
});
