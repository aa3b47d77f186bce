import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { MAX_PREEMPTIONS } from '../../../src/scheduler/preemption.ts';
import { newProject } from '../../../src/schemas/project.ts';
import { type Bench, runsAs, startBench, until } from '../../support/dispatch.ts';
import { startDispatcherProcess } from '../../support/dispatcher-processes.ts';
import { ENDLESS } from '../../support/fake-driver.ts';

const SAVING = { steps: ENDLESS, delayMs: 50, saves: true };
/** Its end is not known. */
const PLAIN = { steps: ENDLESS, delayMs: 50 };
const BATCH = { priorityClass: 'batch', maxAttempts: 1 } as const;
const URGENT = { priorityClass: 'urgent' } as const;

/** The preemptions in the stream of an experiment. */
async function preemptionsOf({ store }: Bench, id: string) {
  const entries = await store.events.read(id, undefined, 10_000);
  return entries.flatMap(({ event }) => (event.type === 'preemption' ? [event] : []));
}

describe('an urgent experiment without room', () => {
  let bench: Bench;
  before(async () => {
    bench = await startBench({ cpus: 2 });
    await bench.dispatcher();
  });
  after(() => bench.stop());

  test('starts when a batch experiment has stopped at a checkpoint, which then continues without a counted attempt', async (t) => {
    const batch = await bench.submit(SAVING, { ...BATCH, cpus: 2 });
    t.after(() => bench.rayWorker.finish(batch));
    await bench.comes(batch, 'ran', runsAs(1));
    const urgent = await bench.submit({ hang: true }, URGENT);
    await bench.comes(urgent, 'ran', runsAs(1));
    const queued = await bench.store.queue.get(batch);
    assert.equal(queued?.priorityClass, 'batch');
    assert.ok(queued.checkpoint!.step > 0);
    const [first] = await bench.store.attempts.list(batch);
    assert.equal(first?.ended?.cause, 'stopped');
    const events = await preemptionsOf(bench, batch);
    assert.equal(events.length, 1);
    assert.equal(events[0]!.reason, `it makes room for the urgent experiment ${urgent}`);
    assert.equal((await bench.store.queue.leaving()).size, 0);
    bench.rayWorker.finish(urgent);
    await bench.comes(batch, 'ran again', runsAs(2));
    bench.rayWorker.finish(batch);
    assert.equal((await bench.reaches(batch, 'succeeded')).attempt, 2);
    assert.equal(bench.rayWorker.overlaps(), 0);
  });

  test('has its victims in its wait reason; a victim of another project has no name of it in its event', async (t) => {
    await bench.store.projects.create(newProject({ name: 'other' }, 0));
    const batch = await bench.submit(PLAIN, { ...BATCH, cpus: 2, project: 'other' });
    t.after(() => bench.rayWorker.finish(batch));
    await bench.comes(batch, 'ran', runsAs(1));
    const urgent = await bench.submit({ steps: 1 }, URGENT);
    const reason = await until(async () => {
      const text = (await bench.store.queue.get(urgent))?.reason;
      return text?.includes('preempting') && text;
    }, 'a wait reason with the preemption');
    assert.match(reason, new RegExp(`; starts in about \\d+ min by preempting ${batch}$`));
    await until(async () => (await bench.store.queue.leaving()).size === 1, 'it leaves');
    const [event] = await preemptionsOf(bench, batch);
    assert.equal(event!.reason, 'it makes room for an urgent experiment of another project');
    // Withdrawn: its preemptor is gone before it has stopped.
    await bench.store.experiments.cancel(urgent, 'test');
    await until(async () => (await preemptionsOf(bench, batch)).at(-1)?.until === null, 'it stays');
    assert.equal((await bench.store.queue.leaving()).size, 0);
    assert.equal((await bench.store.queue.paces([batch])).get(batch)?.preemptions, 1);
    assert.equal((await bench.store.experiments.get(batch))?.state, 'running');
    bench.rayWorker.finish(batch);
    await bench.reaches(batch, 'succeeded');
  });
});

describe('a short time to leave', () => {
  let bench: Bench;
  before(async () => {
    bench = await startBench({ cpus: 1 });
    await bench.dispatcher({ preemptWithinMs: 500 });
  });
  after(() => bench.stop());

  test('a driver without a checkpoint is stopped when its time is over, and continues from its first step', async () => {
    const batch = await bench.submit(PLAIN, BATCH);
    await bench.comes(batch, 'ran', runsAs(1));
    const urgent = await bench.submit({ steps: 1 }, URGENT);
    await bench.reaches(urgent, 'succeeded');
    await bench.comes(batch, 'ran again', runsAs(2));
    bench.rayWorker.finish(batch);
    await bench.reaches(batch, 'succeeded');
  });

  test('an experiment is preempted three times at most', async () => {
    const batch = await bench.submit(SAVING, BATCH);
    for (let round = 1; round <= MAX_PREEMPTIONS; round += 1) {
      await bench.comes(batch, 'ran', runsAs(round));
      await bench.reaches(await bench.submit({ steps: 1 }, URGENT), 'succeeded');
    }
    await bench.comes(batch, 'ran', runsAs(MAX_PREEMPTIONS + 1));
    const urgent = await bench.submit({ steps: 1 }, URGENT);
    const reason = await until(async () => (await bench.store.queue.get(urgent))?.reason, 'a wait reason');
    assert.doesNotMatch(reason, /preempt/);
    bench.rayWorker.finish(batch);
    for (const id of [batch, urgent]) await bench.reaches(id, 'succeeded');
    assert.equal((await preemptionsOf(bench, batch)).length, MAX_PREEMPTIONS);
  });

  test('a preemption that was decided on an older state changes nothing, and a repeated one is made once', async () => {
    const { attempts, queue, clusters } = bench.store;
    const batch = await bench.submit(PLAIN, BATCH);
    await bench.comes(batch, 'ran', runsAs(1));
    const waits = await bench.submit({ steps: 1 }, { enqueue: false });
    const { preemptions } = await queue.snapshot(10);
    const { version } = await clusters.allocations('fake');
    const victims = [{ experiment: batch, attempt: 1 }];
    const given = { experiment: waits, cluster: 'fake', victims, withinMs: 60_000, maxTimes: 3 };
    const asRead = { ...given, allocationVersion: version, preemptions };
    for (const older of [
      { allocationVersion: version - 1 },
      { preemptions: preemptions - 1 },
      { victims: [{ experiment: batch, attempt: 2 }] },
      { victims: [...victims, { experiment: waits, attempt: 0 }] },
      { maxTimes: 0 },
      { experiment: batch },
    ])
      assert.equal(await attempts.preempt({ ...asRead, ...older }), 0);
    assert.equal((await queue.leaving()).size, 0);
    assert.equal(await attempts.preempt(asRead), 1);
    assert.equal(await attempts.preempt(asRead), 0);
    await bench.store.experiments.cancel(batch, 'test');
    await bench.reaches(batch, 'cancelled');
    assert.equal((await queue.leaving()).size, 0);
    await bench.reaches(waits, 'succeeded');
  });
});

describe('a dispatcher that dies during a preemption', { concurrency: 3 }, () => {
  // The end of the batch experiment's first attempt is the first end: a death before it is one between stop and requeue.
  for (const commit of ['store.attempts.preempt', 'rayWorker.stop', 'store.attempts.end'] as const)
    for (const fault of ['killed before', 'killed after'] as const)
      test(`${fault} ${commit}: both experiments end as they would have without`, async (t) => {
        const bench = await startBench({ cpus: 1 });
        t.after(() => bench.stop());
        const failpoint = { commit, fault };
        const victim = await startDispatcherProcess(bench, t, { id: 'victim', leaseMs: 800, failpoint });
        const batch = await bench.submit(SAVING, BATCH);
        await bench.comes(batch, 'ran', runsAs(1));
        const urgent = await bench.submit({ steps: 3 }, URGENT);
        await victim.says('failpoint');
        await bench.dispatcher({ id: 'successor' });
        assert.equal((await bench.reaches(urgent, 'succeeded')).attempt, 1);
        await bench.comes(batch, 'ran again', runsAs(2));
        bench.rayWorker.finish(batch);
        await bench.reaches(batch, 'succeeded');
        assert.equal((await preemptionsOf(bench, batch)).length, 1);
        assert.equal(bench.rayWorker.launches().length, 3);
        assert.equal(bench.rayWorker.overlaps(), 0);
      });
});
