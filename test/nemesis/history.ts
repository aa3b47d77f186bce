import type { StreamEntry } from '../../src/core/events.ts';
import type { Experiment } from '../../src/schemas/experiment.ts';
import type { BatchRecord } from '../../src/store/batches/types.ts';
import { allBatches } from '../support/batches.ts';
import type { LaunchLine } from '../support/fake-ray-worker.ts';
import { checkLeases, type LeaseHistory } from './linearizability.ts';
import type { Notified } from './receivers.ts';
import type { Users } from './users.ts';
import type { Measured } from './watch.ts';
import type { World } from './world.ts';

const PAGE = 500;
const ALL = 1_000_000;

/** An experiment as the store has it at the end. */
export interface Recorded {
  readonly record: Experiment;
  readonly entries: readonly StreamEntry[];
  readonly batches: readonly BatchRecord[];
  /** CPUs that each attempt needs. */
  readonly cpus: number;
  /** When its first attempt was allocated (ms since 1970); null: never. */
  readonly allocatedAt: number | null;
  /** Number of events that each attempt's driver has made; 0: the ray-worker has forgotten the attempt. */
  readonly made: ReadonlyMap<number, number>;
}

/** What an idle system has none of. */
type Left =
  | 'drivers'
  | 'allocations'
  | 'unacquired attempts'
  | 'leases'
  | 'batches without a report'
  | 'queued experiments';

/** Everything that a campaign left, of the store and of the independent witnesses. */
export interface History {
  readonly experiments: ReadonlyMap<string, Recorded>;
  readonly users: Users;
  readonly notified: readonly Notified[];
  readonly launches: readonly LaunchLine[];
  readonly overlaps: number;
  readonly quota: World['quota'];
  readonly clockErrorMs: number;
  /** When the driver of an attempt ended (ms since 1970); undefined: it runs, or it is forgotten. */
  endOf(experiment: string, attempt: number): number | undefined;
  /** Drivers, allocations, leases and batches that are left. */
  readonly left: Readonly<Record<Left, number>>;
  readonly leases: LeaseHistory;
  readonly selfEnded: readonly string[];
  readonly measured: Measured;
}

/** Reads a {@link History}; every experiment has ended. */
export async function readHistory(
  world: World,
  { users, notified, measured }: Pick<History, 'users' | 'notified' | 'measured'>,
): Promise<History> {
  const { store, rayWorker } = world.bench;
  const experiments = new Map<string, Recorded>();
  for (const record of await everyExperiment(store))
    experiments.set(record.id, await readRecorded(world.bench, record));
  const { held, expired } = await store.attempts.leases();
  const left = {
    drivers: rayWorker.running().length,
    allocations: (await store.clusters.allocations(world.cluster)).items.length,
    'unacquired attempts': (await store.attempts.allocated({ olderThanMs: 0, limit: PAGE })).length,
    leases: held + expired,
    'batches without a report': await store.batches.backlog(),
    'queued experiments': (await store.queue.ids(PAGE, 0)).length,
  };
  return {
    experiments,
    users,
    notified,
    left,
    measured,
    selfEnded: world.selfEnded,
    quota: world.quota,
    clockErrorMs: world.clockErrorMs,
    leases: checkLeases(world.leases.directory, world.leases),
    launches: rayWorker.launches(),
    overlaps: rayWorker.overlaps(),
    endOf: (experiment, attempt) =>
      rayWorker.arose(experiment, attempt, rayWorker.events(experiment, attempt)),
  };
}

/** The records of all experiments, the newest first. */
export async function everyExperiment(store: World['bench']['store']): Promise<Experiment[]> {
  const all: Experiment[] = [];
  for (let before: string | null | undefined; before !== null; ) {
    const page = await store.experiments.list({ limit: PAGE, ...(before !== undefined && { before }) });
    all.push(...page.items);
    before = page.next;
  }
  return all;
}

/** What the store and the ray-worker have of one experiment. */
export async function readRecorded(
  { store, rayWorker }: World['bench'],
  record: Experiment,
): Promise<Recorded> {
  const { id } = record;
  const attempts = await store.attempts.list(id);
  return {
    record,
    entries: await store.events.read(id, undefined, ALL),
    batches: await allBatches(store, id),
    cpus: (record.resolved as { resources?: { cpus?: number } }).resources?.cpus ?? 1,
    allocatedAt: attempts[0]?.claimedAt ?? null,
    made: new Map(attempts.map(({ attempt }) => [attempt, rayWorker.events(id, attempt)])),
  };
}
