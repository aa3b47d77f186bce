import type { ExperimentSpec } from 'echelon-client';
import { specOfFake } from '../users.ts';
import { CPUS, startWorld, type World } from '../world.ts';
import { API_FAULTS } from './api.ts';
import { DISPATCHER_FAULTS } from './dispatcher.ts';
import type { Fault } from './fault.ts';
import { RAY_WORKER_FAULTS } from './ray-worker.ts';
import { CLOCK_FAULTS, REDIS_FAULTS } from './redis.ts';
import { STORE_FAULTS } from './store.ts';

/** A fault of a world that runs. */
export interface Strike extends Omit<Fault, 'strike' | 'missing'> {
  strike(random: () => number): Promise<void>;
}

/** Why faults are omitted on this machine, by kind. */
export type Omitted = ReadonlyMap<string, string>;

/** A kind of world, and what a campaign does in it. */
export interface Kind {
  /** The bound on recovery and on the wait of an event, in ms. */
  readonly boundMs: number;
  /** Attempts that run when a fault occurs. */
  readonly running: number;
  /** What users submit. */
  specOf(random: () => number): ExperimentSpec;
  /** Starts it with the faults whose kind contains `fault`. The caller must stop the world. */
  start(fault?: string): Promise<{ world: World; faults: readonly Strike[]; omitted: Omitted }>;
}

const LEASE_MS = 1_500;
/** More than the store's time may pass until a leap is noticed. */
const LEAPT_LEASE_MS = 12_000;

function kindOf(
  faults: readonly Fault[],
  setup: Parameters<typeof startWorld>[0] = { leaseMs: LEASE_MS },
): Kind {
  return {
    // Two leases and 5 s.
    boundMs: 2 * setup.leaseMs + 5_000,
    running: Math.min(20, CPUS),
    specOf: specOfFake,
    async start(fault = '') {
      const world = await startWorld(setup);
      const omitted = new Map<string, string>();
      const chosen = faults.filter(({ kind }) => kind.includes(fault));
      const bound = chosen.flatMap(({ kind, outage, strike, missing }) => {
        const lack = missing?.(world);
        if (lack !== undefined) omitted.set(kind, lack);
        return lack === undefined
          ? [{ kind, outage, strike: (random: () => number) => strike(world, random) }]
          : [];
      });
      return { world, faults: bound, omitted };
    },
  };
}

/** The worlds by name. In `clock`, the clock of Redis leaps, beside losses of dispatchers and of Redis. */
export const WORLDS: Readonly<Record<string, Kind>> = {
  dispatcher: kindOf(DISPATCHER_FAULTS),
  'ray-worker': kindOf(RAY_WORKER_FAULTS),
  redis: kindOf(REDIS_FAULTS),
  api: kindOf(API_FAULTS),
  store: kindOf(STORE_FAULTS),
  clock: kindOf([...CLOCK_FAULTS, ...CLOCK_FAULTS, DISPATCHER_FAULTS[0]!, REDIS_FAULTS[0]!], {
    leaseMs: LEAPT_LEASE_MS,
    clockErrorMs: LEAPT_LEASE_MS,
  }),
  mixed: kindOf([
    ...DISPATCHER_FAULTS,
    ...RAY_WORKER_FAULTS,
    ...REDIS_FAULTS,
    ...STORE_FAULTS,
    ...API_FAULTS,
  ]),
};
