import type { ExperimentSpec } from '../../../src/client/index.ts';
import { SYSTEM } from '../system/system.ts';
import { specOfFake } from '../users.ts';
import { CPUS, type Observed, startWorld } from '../world.ts';
import { API_FAULTS } from './api.ts';
import { DISPATCHER_FAULTS } from './dispatcher.ts';
import type { Fault } from './fault.ts';
import { RAY_WORKER_FAULTS } from './ray-worker.ts';
import { REDIS_FAULTS } from './redis.ts';

/** What a campaign does in a world. */
interface Terms {
  /** The bound on recovery and on the wait of an event, in ms. */
  readonly boundMs: number;
  /** Attempts that run when a fault occurs. */
  readonly running: number;
  /** What users submit. */
  specOf(random: () => number): ExperimentSpec;
}

/** A fault of one world that runs. */
export interface Strike extends Omit<Fault, 'strike' | 'missing'> {
  strike(random: () => number): Promise<void>;
}

/** Why faults are omitted on this machine, by kind. */
export type Omitted = ReadonlyMap<string, string>;

/** A kind of world, and what a campaign does in it. */
export interface Kind extends Terms {
  /** The caller must stop the world. */
  start(): Promise<{ world: Observed; faults: readonly Strike[]; omitted: Omitted }>;
}

/** A kind of world that `start` starts, with these faults. */
export interface KindOf<W extends Observed> extends Terms {
  readonly faults: readonly Fault<W>[];
  start(): Promise<W>;
}

function kindOf<W extends Observed>({ start, faults, ...terms }: KindOf<W>): Kind {
  return {
    ...terms,
    async start() {
      const world = await start();
      const omitted = new Map<string, string>();
      const bound = faults.flatMap(({ kind, outage, strike, missing }) => {
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

const LEASE_MS = 1_500;

const withFakeRayWorker = (faults: readonly Fault[]): Kind =>
  kindOf({
    // Two leases and 5 s.
    boundMs: 2 * LEASE_MS + 5_000,
    running: Math.min(20, CPUS),
    specOf: specOfFake,
    start: () => startWorld({ leaseMs: LEASE_MS }),
    faults,
  });

/** The worlds by name. `system` runs only by its name. */
export const WORLDS: Readonly<Record<string, Kind>> = {
  dispatcher: withFakeRayWorker(DISPATCHER_FAULTS),
  'ray-worker': withFakeRayWorker(RAY_WORKER_FAULTS),
  redis: withFakeRayWorker(REDIS_FAULTS),
  api: withFakeRayWorker(API_FAULTS),
  mixed: withFakeRayWorker([...DISPATCHER_FAULTS, ...RAY_WORKER_FAULTS, ...REDIS_FAULTS, ...API_FAULTS]),
  system: kindOf(SYSTEM),
};
