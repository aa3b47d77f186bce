import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { ReceivedEvent } from '../../src/cli/client.ts';
import { readSpec } from '../../src/cli/folder-files.ts';
import { parseEntryId } from '../../src/core/ids.ts';
import { isFinal } from '../../src/core/states.ts';
import { until } from '../support/dispatch.ts';
import { assertWhole, historyOf } from '../support/history.ts';
import { processesOf, type System } from '../support/system.ts';
import type { OnRay } from './main-path.test.ts';

/** A driver is stopped 15 s and its grace period before the end of this time, unless it reports a checkpoint before. */
export const PREEMPT_WITHIN_MS = 20_000;
const SAVE_EVERY = 4;
const STEPS = 30;

/** What an attempt did, by its own events. */
interface Done {
  steps: number[];
  /** The step of its last checkpoint; 0: it has none. */
  saved: number;
  from: number;
  to: number;
}

/** The tests of preemption, on a running system in which nothing else runs. */
export function testPreemption(onRay: OnRay): void {
  let system: System;
  let cpus: number;
  let trainings = 0;
  /** The result of a training that nothing disturbed. */
  let undisturbed: Buffer;

  before(async () => {
    ({ system } = onRay);
    const path = { name: 'default' };
    await system.client.patch('/v1/projects/{name}', { path, body: { urgentGpuQuota: 1 } });
    cpus = (await system.client.get('/v1/clusters')).items[0]!.nodes[0]!.cpusTotal;
    const id = await train(['--delay=0']);
    await ends(id, 1);
    undisturbed = await weights();
  });

  async function train(args: string[], own = cpus): Promise<string> {
    const program = (await readSpec('test/support/preempted-training.yaml', { remark: assert.fail })) as {
      command: string[];
    };
    trainings += 1;
    const weights = `--weights={sharedRoot}/weights-${trainings}`;
    const command = [...program.command, `--steps=${STEPS}`, weights, ...args];
    const spec = { ...program, command, priorityClass: 'batch', resources: { cpus: own }, maxAttempts: 1 };
    return (await system.submit({ ...spec, gracePeriodSeconds: 1 })).id;
  }

  async function ends(id: string, attempts: number): Promise<void> {
    const { state, attempt, reason } = await system.until(id, 'the end', (one) => isFinal(one.state), 90_000);
    assert.deepEqual([state, attempt], ['succeeded', attempts], reason);
    assert.deepEqual(await processesOf(id), []);
  }

  /** Of the last training. */
  const weights = () => readFile(join(system.stack.cluster.sharedRoot, `weights-${trainings}`));

  /** Lets an urgent experiment preempt the training, and both end. Returns what each attempt of the training did. */
  async function preempt(
    id: string,
    meanwhile: (urgent: string) => Promise<unknown> = async () => undefined,
  ): Promise<Done[]> {
    const replay = { batches: 1 };
    const spec = { name: 'now', engine: 'replay', priorityClass: 'urgent', resources: { cpus }, replay };
    const { id: urgent } = await system.submit(spec);
    await meanwhile(urgent);
    await ends(urgent, 1);
    await ends(id, 2);
    const history = await historyOf(system.client, id);
    assert.deepEqual([...assertWhole(history).keys()], [1, 2], 'each attempt was launched once');
    const preemptions = history.flatMap(({ event }) => (event.type === 'preemption' ? [event.reason] : []));
    assert.deepEqual(preemptions, [`it makes room for the urgent experiment ${urgent}`]);
    const [first, second] = [1, 2].map((attempt) => doneBy(history, attempt)) as [Done, Done];
    const [other] = [doneBy(await historyOf(system.client, urgent), 1)];
    assert.ok(first.to <= other.from && other.to <= second.from, 'they ran one after the other');
    return [first, second];
  }

  test('it continues from its checkpoint, loses the steps after it, and ends with the bits of an undisturbed training', async () => {
    const id = await train(['--delay=0.3']);
    await system.until(id, 'a checkpoint', ({ checkpoint }) => (checkpoint?.step ?? 0) >= SAVE_EVERY);
    const [first, second] = (await preempt(id)) as [Done, Done];
    assert.ok(first.saved > 0 && first.saved < STEPS, `saved ${first.saved}`);
    assert.equal(second.steps[0], first.saved + 1);
    const lost = first.steps.at(-1)! - first.saved;
    assert.ok(lost >= 0 && lost <= SAVE_EVERY, `${lost} steps were lost`);
    assert.equal((await weights()).compare(undisturbed), 0, 'the weights have other bits');
  });

  /* Fails if a round takes what Ray still counts after the end of the first training for needed by it: the second one leaves too. */
  test('of two trainings that hold CPUs of Ray, one leaves for an urgent experiment, and the other continues', async () => {
    const half = Math.floor(cpus / 2);
    const ids: string[] = [];
    for (const own of [half, cpus - half]) ids.push(await train(['--delay=0.3'], own));
    for (const id of ids)
      await system.until(id, 'a checkpoint', ({ checkpoint }) => (checkpoint?.step ?? 0) >= SAVE_EVERY);
    const replay = { batches: 1 };
    const spec = { name: 'now', engine: 'replay', priorityClass: 'urgent', replay };
    const { id: urgent } = await system.submit({ ...spec, resources: { cpus: half } });
    await ends(urgent, 1);
    const attempts: number[] = [];
    for (const id of ids)
      attempts.push((await system.until(id, 'the end', ({ state }) => isFinal(state), 90_000)).attempt);
    assert.deepEqual(attempts.sort(), [1, 2]);
    const histories = await Promise.all(ids.map((id) => historyOf(system.client, id)));
    assert.equal(histories.flat().filter(({ event }) => event.type === 'preemption').length, 1);
  });

  test('a driver that ignores the stop is killed while it writes a checkpoint, and continues from the one before', async () => {
    const torn = 2 * SAVE_EVERY;
    const id = await train(['--delay=0.1', `--torn-at=${torn}`]);
    await system.until(id, 'half a checkpoint', ({ progress }) => progress.step >= torn);
    const words = new RegExp(
      `; starts in .* by preempting ${id}, which continues from its checkpoint of step ${SAVE_EVERY} or a later one and loses at most \\d+ min$`,
    );
    const namesIt = async (urgent: string) => {
      const { items } = await system.client.get('/v1/queues');
      return items.some(
        ({ experiment, waitReason }) => experiment === urgent && words.test(waitReason ?? ''),
      );
    };
    const waits = (urgent: string) => until(() => namesIt(urgent), 'the wait reason names the training');
    const [first, second] = (await preempt(id, waits)) as [Done, Done];
    assert.deepEqual([first.saved, first.steps.at(-1), second.steps[0]], [SAVE_EVERY, torn, SAVE_EVERY + 1]);
    assert.equal((await weights()).compare(undisturbed), 0, 'the weights have other bits');
  });
}

function doneBy(history: readonly ReceivedEvent[], attempt: number): Done {
  const own = history.filter(({ id }) => {
    const place = parseEntryId(id)!;
    return place.attempt === attempt && place.fromAttempt;
  });
  const times = own.map(({ at }) => at);
  return {
    steps: own.flatMap(({ event }) => (event.type === 'metrics' ? [event.step] : [])),
    saved: Math.max(0, ...own.map(({ event }) => (event.type === 'checkpoint' ? event.step : 0))),
    from: Math.min(...times),
    to: Math.max(...times),
  };
}
