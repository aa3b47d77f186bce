import type { ExperimentSpec } from 'echelon-client';
import { OWN_SOURCES } from '../../support/dispatcher-processes.ts';
import { checkOut } from '../older.ts';
import { SYSTEM } from '../system/system.ts';
import { specOfFake } from '../users.ts';
import { CPUS, type Observed, startWorld } from '../world.ts';
import { API_FAULTS } from './api.ts';
import { DISPATCHER_FAULTS } from './dispatcher.ts';
import type { Fault } from './fault.ts';
import { RAY_WORKER_FAULTS } from './ray-worker.ts';
import { CLOCK_FAULTS, REDIS_FAULTS } from './redis.ts';
import { STORE_FAULTS } from './store.ts';
import { type MixedWorld, UPGRADE_FAULTS } from './upgrade.ts';

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

/** The caller's choices for worlds. */
export interface Choices {
  /** A commit: the older version of the world `upgrade`. */
  readonly older?: string | undefined;
  /** Only faults whose kind contains this text. */
  readonly fault?: string | undefined;
}

/** A kind of world, and what a campaign does in it. */
export interface Kind extends Terms {
  /** The caller must stop the world. */
  start(choices: Choices): Promise<{ world: Observed; faults: readonly Strike[]; omitted: Omitted }>;
}

/** A kind of world that `start` starts, with these faults. */
export interface KindOf<W extends Observed> extends Terms {
  readonly faults: readonly Fault<W>[];
  start(choices: Choices): Promise<W>;
}

function kindOf<W extends Observed>({ start, faults, ...terms }: KindOf<W>): Kind {
  return {
    ...terms,
    async start(choices) {
      const world = await start(choices);
      const omitted = new Map<string, string>();
      const chosen = faults.filter(({ kind }) => kind.includes(choices.fault ?? ''));
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

const LEASE_MS = 1_500;

const TERMS: Terms = {
  // Two leases and 5 s.
  boundMs: 2 * LEASE_MS + 5_000,
  running: Math.min(20, CPUS),
  specOf: specOfFake,
};

const withFakeRayWorker = (faults: readonly Fault[]): Kind =>
  kindOf({ ...TERMS, start: () => startWorld({ leaseMs: LEASE_MS }), faults });

/** More than the store's time may pass until a leap is noticed. */
const LEAPT_LEASE_MS = 12_000;

/** Leaps of the clock of Redis, beside losses of dispatchers and of Redis. */
const CLOCK: Kind = kindOf({
  ...TERMS,
  boundMs: 2 * LEAPT_LEASE_MS + 5_000,
  start: () => startWorld({ leaseMs: LEAPT_LEASE_MS, clockErrorMs: LEAPT_LEASE_MS }),
  faults: [...CLOCK_FAULTS, ...CLOCK_FAULTS, DISPATCHER_FAULTS[0]!, REDIS_FAULTS[0]!],
});

/** Every process starts with the older version. */
async function startMixed({ older = '' }: Choices): Promise<MixedWorld> {
  const sources = checkOut(older);
  try {
    // An older version may not record what it does with leases.
    const { leases: _, ...world } = await startWorld({ leaseMs: LEASE_MS, sources: sources.directory });
    const stop = () => world.stop().finally(sources.stop);
    return { ...world, versions: [sources.directory, OWN_SOURCES], stop };
  } catch (error) {
    await sources.stop();
    throw error;
  }
}

/** The worlds by name. `system` and `upgrade` run only by their names. */
export const WORLDS: Readonly<Record<string, Kind>> = {
  dispatcher: withFakeRayWorker(DISPATCHER_FAULTS),
  'ray-worker': withFakeRayWorker(RAY_WORKER_FAULTS),
  redis: withFakeRayWorker(REDIS_FAULTS),
  api: withFakeRayWorker(API_FAULTS),
  store: withFakeRayWorker(STORE_FAULTS),
  clock: CLOCK,
  mixed: withFakeRayWorker([
    ...DISPATCHER_FAULTS,
    ...RAY_WORKER_FAULTS,
    ...REDIS_FAULTS,
    ...STORE_FAULTS,
    ...API_FAULTS,
  ]),
  system: kindOf(SYSTEM),
  upgrade: kindOf({ ...TERMS, start: startMixed, faults: UPGRADE_FAULTS }),
};
