import { setTimeout as delay } from 'node:timers/promises';
import { isFinal } from '../../src/core/states.ts';
import { isVerified, until } from '../support/dispatch.ts';
import { randomFrom } from '../support/random-batch.ts';
import { CHECKS } from './checks.ts';
import { WORLDS } from './faults/worlds.ts';
import { readHistory } from './history.ts';
import { watchStarvation } from './starvation.ts';
import { startUsers, type Users } from './users.ts';
import { type Measured, startWatch, type Watch } from './watch.ts';
import { CPUS, startWorld, type World } from './world.ts';

const LEASE_MS = 1_500;
/** The bound on recovery and on event lag: two leases and 5 s. */
export const BOUND_MS = 2 * LEASE_MS + 5_000;
/** Attempts that run when a fault occurs. */
const RUNNING = 20;
const DRAIN_SECONDS = 180;

/** The outcome of a campaign in one world. */
export interface Result {
  readonly world: string;
  readonly seed: number;
  readonly experiments: number;
  readonly attempts: number;
  readonly events: number;
  readonly operations: ReadonlyMap<string, number>;
  readonly measured: Measured;
  /** Violations of guarantees: they hold on any machine. */
  readonly violations: readonly string[];
  /** Exceeded times: on a starved machine they say nothing. */
  readonly exceeded: readonly string[];
  readonly starved: boolean;
  /** The load of the machine, in words. */
  readonly machine: string;
}

/** Runs random faults of one world under load for some time, and checks the whole history. */
export async function runCampaign(options: {
  world: string;
  seed: number;
  minutes: number;
  /** Continues on a starved machine. */
  whileStarved: boolean;
}): Promise<Result> {
  const { seed, minutes, whileStarved } = options;
  const world = await startWorld({ leaseMs: LEASE_MS });
  const starvation = watchStarvation();
  const watch = startWatch(world.bench);
  try {
    const { url, token } = world.api;
    const users = startUsers({ url, token, random: randomFrom(seed + 1), openCount: () => openCount(world) });
    const signal = AbortSignal.any([
      AbortSignal.timeout(minutes * 60_000),
      ...(whileStarved ? [] : [starvation.signal]),
    ]);
    await strike(world, watch, { faults: WORLDS[options.world]!, random: randomFrom(seed), signal });
    const exceeded = await drain(world, users, watch);
    await watch.stop();
    const history = await readHistory(world, users, watch.measured);
    const violations = Object.entries(CHECKS).flatMap(([guarantee, check]) =>
      check(history).map((violation) => `${guarantee}: ${violation}`),
    );
    const recorded = [...history.experiments.values()];
    return {
      ...{ world: options.world, seed, violations, measured: watch.measured, operations: users.operations },
      experiments: recorded.length,
      attempts: history.launches.length,
      events: recorded.reduce((sum, { entries }) => sum + entries.length, 0),
      exceeded: [...exceeded, ...exceededTimes(watch.measured)],
      starved: starvation.signal.aborted,
      machine: starvation.describe(),
    };
  } finally {
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
  world: World,
  watch: Watch,
  { faults, random, signal }: { faults: (typeof WORLDS)[string]; random: () => number; signal: AbortSignal },
): Promise<void> {
  const running = () => world.bench.rayWorker.running().length;
  while (!signal.aborted) {
    const all = random() < 0.75;
    const exposed = watch.unrecovered();
    await waitFor(
      () => (all ? watch.unrecovered() === 0 : watch.unrecovered() < exposed || exposed === 0),
      signal,
    );
    await waitFor(() => running() >= Math.min(RUNNING, CPUS), signal);
    if (signal.aborted) return;
    // Sometimes two at once, of different kinds.
    const chosen = new Set(Array.from({ length: random() < 0.15 ? 2 : 1 }, () => pick(faults, random)));
    const struck = [...chosen].map(async (fault) => {
      const over = watch.fault(fault.kind, fault.outage);
      await fault.strike(world, random);
      over();
    });
    await Promise.all(struck);
  }
}

const pick = <T>(items: readonly T[], random: () => number): T => items[Math.floor(random() * items.length)]!;

/** Waits for `holds`, but no longer than a stuck attempt may take: later faults must not wait for it. */
async function waitFor(holds: () => boolean, signal: AbortSignal): Promise<void> {
  const end = performance.now() + 2 * BOUND_MS;
  while (!holds() && !signal.aborted && performance.now() < end) await delay(50);
}

/** Ends the load, and waits until every experiment has ended and every follower knows. */
async function drain({ bench: { store } }: World, users: Users, watch: Watch): Promise<string[]> {
  const ended = async () => {
    const { items } = await store.experiments.list({ limit: 100, state: [...OPEN_STATES] });
    if (items.length > 0) return false;
    for (let before: string | undefined; ; ) {
      const page = await store.experiments.list({ limit: 500, ...(before !== undefined && { before }) });
      if (page.items.some((record) => !isFinal(record.state) || !isVerified(record))) return false;
      if (page.next === null) return (await store.sweeps.withWork(1)).length === 0;
      before = page.next;
    }
  };
  const all = (async () => {
    await users.leave();
    await until(ended, 'every experiment has ended', { seconds: DRAIN_SECONDS });
    await users.followers();
    await until(() => watch.unrecovered() === 0, 'every exposed attempt is recorded', { seconds: 30 });
  })();
  const tooLong = delay((DRAIN_SECONDS + 60) * 1_000, ['the end of the load or of the followers'], {
    ref: false,
  });
  return await Promise.race([
    tooLong,
    all.then(
      () => [],
      (error: Error) => [error.message],
    ),
  ]);
}

const OPEN_STATES = ['queued', 'launching', 'running', 'cancelling'] as const;

function exceededTimes({ recoveries, lagMs }: Measured): string[] {
  const longest = Math.max(0, ...recoveries);
  return [
    ...(longest > BOUND_MS ? [`recovery took ${longest} ms, the bound is ${BOUND_MS} ms`] : []),
    ...(lagMs > BOUND_MS ? [`an event waited ${lagMs} ms, the bound is ${BOUND_MS} ms`] : []),
  ];
}

/** The value below which a share of the sorted values lies; 0 without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
