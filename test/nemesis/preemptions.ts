/**
 * A campaign of preemptions under load: batch experiments fill a cluster of stand-in drivers, urgent ones preempt them, and
 * dispatchers are killed meanwhile. At the end, every attempt's steps are compared with its checkpoints. Ends with 1 after a
 * violation.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { randomFrom } from '../../packages/echelon-verify/test/support/random-batch.ts';
import { EchelonError } from '../../src/core/errors.ts';
import type { ExperimentEvent } from '../../src/core/events.ts';
import { newExperimentId } from '../../src/core/ids.ts';
import { retryUntil } from '../../src/core/retry.ts';
import { isFinal } from '../../src/core/states.ts';
import { MAX_PREEMPTIONS } from '../../src/scheduler/preemption.ts';
import { DEFAULT_PROJECT } from '../../src/schemas/project.ts';
import { type Bench, startBench, until } from '../support/dispatch.ts';
import { type DispatcherProcess, startDispatcherProcess } from '../support/dispatcher-processes.ts';
import { between, pick } from './faults/fault.ts';

const NODES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
/** Time to leave: the stop begins a grace period and 15 s before its end, so about half a second is for a checkpoint. */
const PREEMPT_WITHIN_MS = 16_000;
/** Batch experiments that are queued or run at a time. */
const BATCHES = 48;
/** Urgent experiments likewise. */
const URGENT = 12;
const DISPATCHERS = 2;
const END_SECONDS = 180;

interface Batch {
  id: string;
  steps: number;
}

/** What the campaign found. */
interface Found {
  violations: string[];
  preemptions: number;
  withdrawn: number;
  lost: number[];
}

/** Repeats a call while the store does not answer: on a busy machine, Redis may be late. */
function steady<T>(call: () => Promise<T>): Promise<T> {
  const shouldRetry = (error: unknown) => error instanceof EchelonError && error.retry;
  return retryUntil(call, { waits: { firstMs: 100, longestMs: 1_000 }, shouldRetry });
}

/** A batch experiment: of one node or of two, with checkpoints at some distance, or with none. */
async function submitBatch(bench: Bench, random: () => number): Promise<Batch> {
  const steps = Math.round(between(random, 40, 160));
  const saveEvery = random() < 0.1 ? 0 : Math.round(between(random, 1, 20));
  const driver = { steps, saveEvery, delayMs: Math.round(between(random, 20, 60)), stages: random() < 0.2 };
  const nodes = random() < 0.15 ? 2 : 1;
  const gpus = pick(random, [1, 2, 4]) * nodes;
  const more = { id: newExperimentId(), maxAttempts: 1, gpus, cpus: gpus, nodes };
  return { id: await steady(() => bench.submit(driver, { priorityClass: 'batch', ...more })), steps };
}

async function submitUrgent(bench: Bench, random: () => number): Promise<string> {
  const nodes = random() < 0.15 ? 2 : 1;
  const gpus = pick(random, [2, 4, 4, 8]) * nodes;
  const driver = { steps: 3, delayMs: 5 };
  const id = newExperimentId();
  return await steady(() => bench.submit(driver, { id, priorityClass: 'urgent', gpus, cpus: gpus, nodes }));
}

/** Kills one of the dispatchers at random times, and starts another in its place. */
async function killDispatchers(
  start: () => Promise<DispatcherProcess>,
  random: () => number,
  signal: AbortSignal,
): Promise<number> {
  const alive = await Promise.all(Array.from({ length: DISPATCHERS }, start));
  let kills = 0;
  while (!signal.aborted) {
    await delay(between(random, 4_000, 12_000), undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
    alive.shift()!.kill('SIGKILL');
    kills += 1;
    alive.push(await start());
  }
  return kills;
}

/** The steps of each attempt of an experiment, and the checkpoints before it. */
function attemptsOf(entries: readonly { id: string; event: ExperimentEvent }[]) {
  const attempts = new Map<number, { steps: number[]; saved: number }>();
  for (const { id, event } of entries) {
    const attempt = Number(id.split('-')[0]);
    const one = attempts.get(attempt) ?? { steps: [], saved: 0 };
    attempts.set(attempt, one);
    if (event.type === 'metrics') one.steps.push(event.step);
    if (event.type === 'checkpoint') one.saved = event.step;
  }
  return [...attempts].sort(([a], [b]) => a - b).map(([, one]) => one);
}

/** An experiment did every step from 1 to its last one, and repeated only steps after its last checkpoint. */
async function check({ store }: Bench, { id, steps }: Batch, found: Found): Promise<void> {
  const wrong = (words: string) => found.violations.push(`${id}: ${words}`);
  const record = (await store.experiments.get(id))!;
  if (record.state !== 'succeeded') wrong(`${record.state}, ${record.reason}`);
  const entries = await store.events.read(id, undefined, 100_000);
  const preemptions = entries.flatMap(({ event }) => (event.type === 'preemption' ? [event] : []));
  const withdrawn = preemptions.filter(({ until }) => until === null).length;
  const asked = preemptions.length - withdrawn;
  found.preemptions += asked - withdrawn;
  found.withdrawn += withdrawn;
  if (asked > MAX_PREEMPTIONS) wrong(`asked to leave ${asked} times`);
  // A stop may be under way when its preemption is withdrawn.
  if (record.attempt > asked + 1) wrong(`${record.attempt} attempts after ${asked} preemptions`);
  let [last, saved] = [0, 0];
  for (const one of attemptsOf(entries)) {
    const first = one.steps[0];
    if (first !== undefined && first !== saved + 1) wrong(`continued at step ${first}, saved was ${saved}`);
    if (one.steps.some((step, at) => step !== saved + 1 + at)) wrong('steps are missing');
    if (first !== undefined && last > 0) found.lost.push(last - saved);
    last = one.steps.at(-1) ?? last;
    saved = Math.max(saved, one.saved);
  }
  if (last !== steps) wrong(`its last step is ${last} of ${steps}`);
}

/** Submits until so many preemptions were asked for; then lets everything end. */
async function load(bench: Bench, count: number, random: () => number) {
  const [batches, urgent]: [Batch[], string[]] = [[], []];
  const open = async (ids: readonly string[]) => {
    const present = await steady(() => bench.store.attempts.present(ids));
    return [...present.values()].filter(({ state }) => !isFinal(state)).length;
  };
  let told = performance.now();
  for (let made = 0; made < count; ) {
    const waiting = await open(batches.slice(-200).map(({ id }) => id));
    for (let at = waiting; at < BATCHES; at += 1) batches.push(await submitBatch(bench, random));
    const waits = await open(urgent.slice(-100));
    for (let at = waits; at < URGENT; at += 1) urgent.push(await submitUrgent(bench, random));
    await delay(between(random, 20, 120));
    made = (await steady(() => bench.store.queue.snapshot(1))).preemptions;
    if (performance.now() - told < 30_000) continue;
    told = performance.now();
    console.log(`  ${made} decisions, ${batches.length} batch, ${urgent.length} urgent experiments`);
  }
  const ids = [...batches.map(({ id }) => id), ...urgent];
  await until(async () => (await open(ids)) === 0, 'every experiment has ended', { seconds: END_SECONDS });
  return { batches, urgent };
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      count: { type: 'string', default: '500' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
    },
  });
  const [count, seed] = [Number(values.count), Number(values.seed)];
  console.log(`node test/nemesis/preemptions.ts --count ${count} --seed ${seed}`);
  const random = randomFrom(seed);
  const releases: (() => Promise<void>)[] = [];
  const bench = await startBench({ cpus: 16, gpus: 8, nodes: NODES });
  await bench.store.projects.change(DEFAULT_PROJECT, { urgentGpuQuota: null });
  let started = 0;
  const start = () => {
    started += 1;
    const setup = { id: `d${started}`, preemptWithinMs: PREEMPT_WITHIN_MS };
    return startDispatcherProcess(bench, { after: (release) => void releases.push(release) }, setup);
  };
  const over = new AbortController();
  const found: Found = { violations: [], preemptions: 0, withdrawn: 0, lost: [] };
  try {
    const begun = performance.now();
    const killing = killDispatchers(start, randomFrom(seed + 1), over.signal);
    const { batches, urgent } = await load(bench, count, random);
    over.abort();
    const kills = await killing;
    for (const batch of batches) await check(bench, batch, found);
    for (const id of urgent) {
      const { state, reason } = (await bench.store.experiments.get(id))!;
      if (state !== 'succeeded') found.violations.push(`${id}: ${state}, ${reason}`);
    }
    const launches = bench.rayWorker.launches().map(({ experiment, attempt }) => `${experiment}/${attempt}`);
    if (new Set(launches).size < launches.length) found.violations.push('an attempt was launched again');
    if (bench.rayWorker.overlaps() > 0) found.violations.push('two drivers of an experiment ran at a time');
    const leaving = (await bench.store.queue.leaving()).size;
    if (leaving > 0) found.violations.push(`${leaving} preemptions are left`);
    const seconds = Math.round((performance.now() - begun) / 1000);
    const all = found.lost.reduce((sum, steps) => sum + steps, 0);
    console.log(
      `  ${found.preemptions} preempted, ${found.withdrawn} withdrawn; ${batches.length} batch and ${urgent.length} urgent ` +
        `experiments, ${launches.length} launches, ${kills} dispatchers killed, ${seconds} s; ` +
        `${found.lost.length} continued, ${all} steps repeated, ${Math.max(0, ...found.lost)} at most`,
    );
  } finally {
    over.abort();
    for (const release of releases) await release();
    await bench.stop();
  }
  for (const violation of found.violations) console.log(`  VIOLATION ${violation}`);
  return found.violations.length === 0 ? 0 : 1;
}

process.exitCode = await main();
