import { setTimeout as delay } from 'node:timers/promises';
import { randomFrom } from '../../packages/echelon-verify/test/support/random-batch.ts';
import { settledWithin } from '../../src/core/settled-within.ts';
import { isFinal, STATES } from '../../src/core/states.ts';
import { DEFAULT_PROJECT } from '../../src/schemas/project.ts';
import { isVerified } from '../support/dispatch.ts';
import { violationsOf } from './checks.ts';
import { pick } from './faults/fault.ts';
import { type Kind, type Omitted, type Strike, WORLDS } from './faults/worlds.ts';
import { everyExperiment, readHistory } from './history.ts';
import { type Receivers, startReceivers } from './receivers.ts';
import { watchStarvation } from './starvation.ts';
import { startUsers, type Users } from './users.ts';
import { type Measured, startWatch, type Watch } from './watch.ts';
import type { World } from './world.ts';

const DRAIN_SECONDS = 180;
const PROGRESS_MS = 60_000;
const POLL_MS = 100;

/** The outcome of a campaign in one world. */
export interface Result {
  readonly world: string;
  readonly seed: number;
  readonly minutes: number;
  readonly experiments: number;
  readonly attempts: number;
  readonly events: number;
  readonly operations: ReadonlyMap<string, number>;
  readonly measured: Measured;
  readonly omitted: Omitted;
  /** Violations of guarantees: they hold on any machine. */
  readonly violations: readonly string[];
  /** Exceeded times: on a starved machine they say nothing. */
  readonly exceeded: readonly string[];
  readonly starved: boolean;
  /** The load of the machine, in words. */
  readonly machine: string;
}

/** The choices of the caller of a campaign. */
export interface Options {
  /** One of {@link WORLDS}. */
  world: string;
  /** Only faults whose kind contains this text. */
  fault?: string | undefined;
  seed: number;
  /** Minutes of faults. */
  minutes: number;
  /** Continues on a starved machine. */
  whileStarved: boolean;
  /** Called once a minute with a line about the progress. */
  progress(line: string): void;
}

/** Runs random faults of one world under load for some time, and checks the whole history. */
export async function runCampaign(options: Options): Promise<Result> {
  const kind = WORLDS[options.world]!;
  const { world, faults, omitted } = await kind.start(options.fault);
  const starvation = watchStarvation();
  const watch = startWatch(world.bench);
  const random = randomFrom(options.seed + 1);
  const receivers = await startReceivers(world, randomFrom(options.seed + 2));
  const users = startUsers({ ...world.api, random, specOf: kind.specOf, openCount: () => openCount(world) });
  const begun = performance.now();
  const timer = setInterval(() => {
    const minutes = Math.round((performance.now() - begun) / 60_000);
    options.progress(`${minutes} min: ${users.accepted.size} submissions, ${watch.describe()}`);
  }, PROGRESS_MS);
  try {
    const over = AbortSignal.timeout(options.minutes * 60_000);
    const signal = options.whileStarved ? over : AbortSignal.any([over, starvation.signal]);
    await strike({ world, watch, kind, faults }, { random: randomFrom(options.seed), signal });
    const undrained = await drain(world, { users, receivers }, watch);
    await watch.stop();
    const history = await readHistory(world, {
      users,
      notified: receivers.notified,
      measured: watch.measured,
    });
    const recorded = [...history.experiments.values()];
    return {
      world: options.world,
      seed: options.seed,
      minutes: options.minutes,
      measured: watch.measured,
      omitted,
      operations: new Map([...users.operations, ...receivers.operations, ...history.leases.operations]),
      violations: [...violationsOf(history), ...world.admitted],
      experiments: recorded.length,
      attempts: history.launches.length,
      events: recorded.reduce((sum, { entries }) => sum + entries.length, 0),
      exceeded: [...undrained, ...exceededTimes(watch.measured, kind.boundMs)],
      starved: starvation.signal.aborted,
      machine: starvation.describe(),
    };
  } finally {
    clearInterval(timer);
    users.abandon();
    await receivers.stop();
    await watch.stop();
    starvation.stop();
    await world.stop();
  }
}

async function openCount({ bench }: World): Promise<number> {
  const counts = await bench.store.experiments.counts();
  return counts.queued + counts.launching + counts.running + counts.cancelling;
}

/** Faults follow progress: most of them wait until every attempt that met the one before has recovered. */
async function strike(
  { world, watch, kind, faults }: { world: World; watch: Watch; kind: Kind; faults: readonly Strike[] },
  { random, signal }: { random: () => number; signal: AbortSignal },
): Promise<void> {
  // A stuck attempt must not hold up the faults.
  const wait = async (holds: () => boolean) => {
    const end = performance.now() + 2 * kind.boundMs;
    while (!holds() && !signal.aborted && performance.now() < end) await delay(50);
  };
  while (!signal.aborted) {
    const exposed = watch.unrecovered();
    const enough = random() < 0.75 ? 0 : Math.max(0, exposed - 1);
    await wait(() => watch.unrecovered() <= enough);
    await wait(() => world.bench.rayWorker.running().length >= kind.running);
    if (signal.aborted) return;
    // Sometimes two at once, of different kinds.
    const chosen = new Set(Array.from({ length: random() < 0.15 ? 2 : 1 }, () => pick(random, faults)));
    const struck = [...chosen].map(async (fault) => {
      const over = watch.fault(fault.kind, fault.outage);
      await fault.strike(random).catch((cause: unknown) => {
        throw new Error(`the fault "${fault.kind}" could not be made or repaired: ${cause}`, { cause });
      });
      over();
    });
    await Promise.all(struck);
  }
}

/** Ends the load, and waits until every experiment has ended and every follower knows. Returns what did not happen. */
async function drain(
  world: World,
  { users, receivers }: { users: Users; receivers: Receivers },
  watch: Watch,
): Promise<string[]> {
  const missed: string[] = [];
  const step = async (what: string, seconds: number, done: Promise<unknown>) => {
    if (!(await settledWithin(seconds * 1_000, done))) missed.push(`not in ${seconds} s: ${what}`);
  };
  const over = new AbortController();
  const reached = async (holds: () => boolean | Promise<boolean>) => {
    while (!over.signal.aborted && !(await holds())) await delay(POLL_MS);
  };
  await step('an answer to every user', 60, users.leave());
  await step(
    'the end of every experiment',
    DRAIN_SECONDS,
    reached(() => allEnded(world)),
  );
  await step('the end of every followed stream', 60, users.followers());
  const newest = Number(await world.bench.store.feed.end(DEFAULT_PROJECT));
  await step('the newest entry of the feed', 30, users.feed.reaches(newest, over.signal));
  await step('an answer to every notification', DRAIN_SECONDS, receivers.settle());
  await step(
    'a record of every exposed attempt',
    30,
    reached(() => watch.unrecovered() === 0),
  );
  over.abort();
  return missed;
}

async function allEnded({ bench: { store } }: World): Promise<boolean> {
  const open = await store.experiments.list({ limit: 1, state: STATES.filter((state) => !isFinal(state)) });
  if (open.items.length > 0 || (await store.sweeps.withWork(1)).length > 0) return false;
  return (await everyExperiment(store)).every(isVerified);
}

function exceededTimes({ recoveries, lagMs }: Measured, boundMs: number): string[] {
  const longest = Math.max(0, ...recoveries);
  return [
    ...(longest > boundMs ? [`recovery took ${longest} ms, the bound is ${boundMs} ms`] : []),
    ...(lagMs > boundMs ? [`an event waited ${lagMs} ms, the bound is ${boundMs} ms`] : []),
  ];
}
