import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { newExperimentId } from '../../src/core/ids.ts';
import { isFinal, type State } from '../../src/core/states.ts';
import type { Experiment } from '../../src/schemas/experiment.ts';
import { newProject } from '../../src/schemas/project.ts';
import { checkExperiment } from '../nemesis/checks.ts';
import { readRecorded } from '../nemesis/history.ts';
import { type Bench, isVerified, startBench, until } from './dispatch.ts';
import { startDispatcherProcess } from './dispatcher-processes.ts';
import { AFTER_DEATH, type Failpoint } from './failpoints.ts';
import { ENDLESS } from './fake-driver.ts';
import { chainInput, sweepInput, sweepRequest } from './sweep.ts';

/** Failpoints that are tried at the same time: they mostly wait for leases to expire. */
export const TOGETHER = 6;
/** The lease of the process that the fault happens to. */
const LEASE_MS = 800;
/** The pace of archiving and retention. */
const RETENTION_MS = 50;

/** Room for preemptions: the urgent experiment needs all CPUs but one, and each batch experiment has two. */
const CPUS = 14;
const SAVE_EVERY = 3;

/** The experiments of a world, one for each kind of life, and what they must have become. */
interface World {
  readonly states: ReadonlyMap<string, State>;
  /** Each is preempted once, and continues. */
  readonly batches: readonly string[];
  /** Of these, the one whose driver ignores the stop, and whose newest checkpoint is incomplete then. */
  readonly torn: string;
  /** Retention deletes it as soon as it has ended. */
  readonly expiring: string;
  readonly sweeps: { readonly runs: string; readonly cancelled: string };
  /** Does what users and faults of drivers do; called again and again. */
  act(): Promise<void>;
}

async function createWorld(bench: Bench): Promise<World> {
  const { store, rayWorker } = bench;
  const driver = { steps: 6, delayMs: 20 };
  const never = { cpus: 100 };
  const odd = { name: 'odd', when: { metric: ['odd/value'], notFinite: true as const } };
  const plain = await bench.submit({ ...driver, batchBytes: 2_000 }, { enqueue: false });
  const marked = await bench.submit(driver, { rules: [odd] });
  const retried = await bench.submit({ ...driver, hang: true }, { maxAttempts: 5 });
  const cancelled = await bench.submit({ ...driver, hang: true });
  const endless = { steps: ENDLESS, delayMs: 20 };
  const victim = { priorityClass: 'batch', cpus: 2, maxAttempts: 1 } as const;
  const torn = await bench.submit({ ...endless, saveEvery: SAVE_EVERY, torn: true, stubborn: true }, victim);
  const batches = [await bench.submit({ ...endless, saves: true }, victim), torn];
  const urgent = newExperimentId();
  const overdue = await bench.submit({}, { ...never, deadline: new Date(Date.now() + 300).toISOString() });
  await store.projects.create(newProject({ name: 'brief', retention: { recordsDays: 0 } }, 0));
  const expiring = await bench.submit({ ...driver, batchBytes: 2_000 }, { project: 'brief' });
  const request = sweepRequest(2);
  const { id: runs } = await store.sweeps.create(chainInput([undefined, 0]));
  const unfit = { ...request, spec: { ...request.spec, resources: never } };
  const { id: cancelledSweep } = await store.sweeps.create(sweepInput(unfit));
  let killed = false;

  async function act(): Promise<void> {
    const own = rayWorker.running().find(({ experiment }) => experiment === retried);
    if (own && killed) rayWorker.finish(retried);
    else if (own && (await store.experiments.get(retried))?.state === 'running') {
      killed = true;
      rayWorker.kill(retried, own.attempt);
    }
    const running = await Promise.all(batches.map((id) => store.experiments.get(id)));
    const run = await store.experiments.get(urgent);
    if (running.every((one) => one?.state === 'running') && run === undefined)
      await bench.submit(driver, { id: urgent, priorityClass: 'urgent', cpus: CPUS - 1 });
    if (run && isFinal(run.state)) await finishPreempted(bench, batches);
    const { state } = (await store.experiments.get(cancelled))!;
    if (state === 'running') await store.experiments.cancel(cancelled, 'test');
    const sweep = await store.sweeps.get(cancelledSweep);
    if (sweep?.state === 'running' && sweep.counts.queued === 2)
      await store.sweeps.cancel(cancelledSweep, 'test');
  }

  const states = new Map<string, State>([
    ...[plain, marked, retried, ...batches, urgent].map((id) => [id, 'succeeded'] as const),
    [cancelled, 'cancelled'],
    [overdue, 'failed'],
  ]);
  return { states, batches, torn, expiring, sweeps: { runs, cancelled: cancelledSweep }, act };
}

/** Lets experiments end that run again after their first attempt. */
async function finishPreempted({ store, rayWorker }: Bench, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const attempts = await store.attempts.list(id);
    if (attempts.length > 1 && attempts[0]!.ended) rayWorker.finish(id);
  }
}

/** Fails unless each batch experiment was preempted once, and continued from its last whole checkpoint. */
async function assertContinued(bench: Bench, { batches, torn }: World): Promise<void> {
  const recordOf = async (id: string) => (await bench.store.experiments.get(id))!;
  for (const id of batches) assert.equal((await recordOf(id)).attempt, 2, `${id} was preempted once`);
  const { entries } = await readRecorded(bench, await recordOf(torn));
  const of = (attempt: number) =>
    entries.flatMap(({ id, event }) => (id.startsWith(`${attempt}-`) ? [event] : []));
  const saved = of(1).flatMap((event) => (event.type === 'checkpoint' ? [event.step] : []));
  const first = of(2).find((event) => event.type === 'metrics');
  assert.equal(first?.step, Math.max(0, saved.at(-1)! - SAVE_EVERY) + 1, `saved ${saved}`);
}

/** Every experiment of a world with the state in which it must end; undefined: not all children are made. */
async function allOf({ store }: Bench, { states, sweeps }: World): Promise<Map<string, State> | undefined> {
  const all = new Map(states);
  for (const [id, state] of [
    [sweeps.runs, 'succeeded'],
    [sweeps.cancelled, 'cancelled'],
  ] as const) {
    const children = await store.sweeps.children((await store.sweeps.get(id))!, 0, 10);
    for (const child of children) {
      if (child.state === null) return undefined;
      all.set(child.experiment, state);
    }
  }
  return all;
}

/** Every stream is archived, and retention has deleted the record and the objects of its experiment. */
async function isCleared({ store, directory }: Bench, { expiring }: World): Promise<boolean> {
  if ((await store.archive.backlog()) > 0 || (await store.experiments.get(expiring))) return false;
  const folder = join(directory, 'archive', 'x', expiring.slice(-2), expiring);
  return !existsSync(folder);
}

const isOver = (record: Experiment | undefined) =>
  record !== undefined && isFinal(record.state) && isVerified(record);

async function assertGuarantees(bench: Bench, expected: ReadonlyMap<string, State>): Promise<void> {
  const { store, rayWorker } = bench;
  for (const [id, state] of expected) {
    const record = (await store.experiments.get(id))!;
    assert.equal(record.state, state, `${id}: ${record.reason}`);
    assert.equal(record.quarantined, false, id);
    assert.deepEqual(checkExperiment(await readRecorded(bench, record)), [], id);
  }
  const launches = rayWorker.launches().map(({ experiment, attempt }) => `${experiment}/${attempt}`);
  assert.equal(new Set(launches).size, launches.length, 'an attempt is launched once');
  assert.equal(rayWorker.overlaps(), 0, 'one driver of an experiment runs at a time');
  assert.deepEqual(rayWorker.running(), [], 'no driver is left');
  assert.deepEqual((await store.clusters.allocations('fake')).items, [], 'no allocation is left');
  assert.equal(await store.batches.backlog(), 0, 'no batch is left');
}

/** Lets a dispatcher die in the middle of its attempts. */
async function leaveAttempts(bench: Bench, t: Parameters<typeof startDispatcherProcess>[1]): Promise<void> {
  const first = await startDispatcherProcess(bench, t, {
    id: 'first',
    leaseMs: LEASE_MS,
    retentionMs: RETENTION_MS,
  });
  await until(async () => (await bench.store.experiments.counts()).running > 0, 'an attempt runs');
  first.kill('SIGKILL');
  await first.exited;
}

/**
 * Runs experiments of every kind on a dispatcher process to which the fault happens, and on a successor. Fails unless every
 * experiment ends as it would without the fault, and the guarantees hold.
 */
export async function tryFailpoint(
  failpoint: Failpoint,
  t: { after(release: () => Promise<void>): void },
): Promise<void> {
  const bench = await startBench({ cpus: CPUS });
  t.after(() => bench.stop());
  const world = await createWorld(bench);
  if (AFTER_DEATH.includes(failpoint.commit)) await leaveAttempts(bench, t);
  const victim = await startDispatcherProcess(bench, t, {
    id: 'victim',
    leaseMs: LEASE_MS,
    retentionMs: RETENTION_MS,
    failpoint,
  });
  let over = false;
  const acting = (async () => {
    for (; !over; await delay(20)) await world.act();
  })();
  try {
    await victim.says('failpoint');
    // A lost answer is the victim's own to survive.
    if (failpoint.fault !== 'answer lost')
      await bench.dispatcher({
        id: 'successor',
        verifications: 3,
        times: { retentionMs: RETENTION_MS, archiveAfterMs: 0 },
      });
    if (failpoint.fault === 'frozen before') {
      await delay(3 * LEASE_MS);
      victim.kill('SIGCONT');
    }
    const all = await until(() => allOf(bench, world), 'every child of a sweep is made');
    const records = () => Promise.all([...all.keys()].map((id) => bench.store.experiments.get(id)));
    await until(async () => (await records()).every(isOver), 'every experiment has ended', {
      seconds: 30,
      instead: records,
    });
    await until(() => isCleared(bench, world), 'everything is archived or deleted', { seconds: 30 });
    await assertGuarantees(bench, all);
    await assertContinued(bench, world);
  } finally {
    over = true;
    await acting;
  }
}
