import type { SchedulerCluster, Span } from '../../src/scheduler/nodes.ts';
import type { ProjectPolicy } from '../../src/scheduler/quotas.ts';
import {
  type Schedule,
  type ScheduleInput,
  type Start,
  scheduleRound,
} from '../../src/scheduler/schedule.ts';
import { plus } from '../../src/scheduler/spans.ts';
import type { Allocation, ClusterNode } from '../../src/store/clusters/types.ts';
import type { QueuedExperiment } from '../../src/store/queue/types.ts';

/** A node of a cluster. */
export function node(id: string, gpus: number, cpus: number, used: Partial<ClusterNode> = {}): ClusterNode {
  return { id, gpusTotal: gpus, cpusTotal: cpus, gpusUsed: 0, cpusUsed: 0, ...used };
}

/** A cluster that answers. */
export function cluster(
  name: string,
  nodes: ClusterNode[],
  more: Partial<SchedulerCluster> = {},
): SchedulerCluster {
  return { name, backfill: false, answering: true, nodes, ...more };
}

/** An experiment that waits. */
export function waits(
  experiment: string,
  gpus: number,
  cpus = 1,
  more: Partial<QueuedExperiment> = {},
): QueuedExperiment {
  return {
    experiment,
    name: experiment,
    project: 'p',
    priority: 0,
    cluster: null,
    gpus,
    cpus,
    submittedAt: 0,
    reason: null,
    ...more,
  };
}

/**
 * Whether nodes with this much room can take the experiment: as many nodes as it asks for have its GPUs and a CPU for each,
 * and all nodes together have its CPUs. Without GPUs, one node has its CPUs. For whole numbers of CPUs.
 */
export function hasRoom(
  { gpus, cpus, nodes = 1 }: Pick<QueuedExperiment, 'gpus' | 'cpus' | 'nodes'>,
  room: readonly { gpus: number; cpus: number }[],
): boolean {
  if (gpus === 0) return room.some((one) => one.cpus >= cpus);
  const each = { gpus: gpus / nodes, cpus: Math.min(gpus, cpus) / nodes };
  const fitting = room.filter((one) => one.gpus >= each.gpus && one.cpus >= each.cpus);
  return fitting.length >= nodes && room.reduce((all, one) => all + one.cpus, 0) >= cpus;
}

/** The nodes as they are without any experiment. */
export function emptied(nodes: readonly ClusterNode[]): { gpus: number; cpus: number }[] {
  return nodes.map(({ gpusTotal, cpusTotal }) => ({ gpus: gpusTotal, cpus: cpusTotal }));
}

/** Parts of a store as a test makes them up. */
interface SnapshotParts {
  clusters: {
    list(): Promise<{ name: string }[]>;
    allocations(cluster: string): Promise<unknown>;
  };
  projects: { list(): Promise<unknown> };
  queue: {
    pauses(): Promise<unknown>;
    projectVersions(): Promise<unknown>;
    window(perProject: number): Promise<unknown>;
    /** Default: nothing is preempted. */
    leaving?(): Promise<unknown>;
  };
}

/** The `snapshot` of a made-up store, put together from its parts. */
export function snapshotFrom(store: SnapshotParts, now: () => number) {
  return async (perProject: number) => {
    const clusters = await store.clusters.list();
    const held = clusters.map(async ({ name }) => [name, await store.clusters.allocations(name)] as const);
    return {
      now: now(),
      clusters,
      allocations: new Map(await Promise.all(held)),
      freed: new Map(),
      projects: await store.projects.list(),
      pauses: await store.queue.pauses(),
      projectVersions: await store.queue.projectVersions(),
      window: await store.queue.window(perProject),
      leaving: (await store.queue.leaving?.()) ?? new Map(),
      preemptions: 0,
    };
  };
}

/** A time that is known exactly. */
export const exactly = (ms: number): Span => ({ early: ms, likely: ms, late: ms });

/** One that will arrive, and how long it then really runs. */
export interface Arrival {
  at: number;
  item: QueuedExperiment;
  length: number;
}

/** One that runs, until `ends`, which is the truth. */
export interface Running extends Allocation {
  project: string;
  cluster: string;
  ends: number;
  startedAt: number;
  /** The end that the scheduler knows, if it knows one. */
  expected: Span;
}

/** The input of one scheduling round of a simulation, and its choice. */
export interface Step {
  now: number;
  input: ScheduleInput;
  schedule: Schedule;
  /** Before the schedule, and after it. */
  before: Running[];
  after: Running[];
  lengths: ReadonlyMap<string, number>;
}

/** A start as allocations of the cluster, one for each of its nodes. */
export function allocationsOf({
  experiment,
  project,
  cluster,
  nodes,
}: Start): (Allocation & { cluster: string })[] {
  return nodes.map(({ id, gpus, cpus }) => ({ experiment, project, cluster, node: id, gpus, cpus }));
}

/**
 * Plays arrivals and ends at their times, with a scheduling round after each, as a dispatcher does.
 * `known`: whether the scheduler knows the end and length of an experiment. `spanOf`: the range in which it knows them.
 * Default: exactly. Returns the start of each experiment, and the experiments that never start.
 */
export function play({
  clusters,
  arrivals,
  projects = new Map(),
  known,
  spanOf = (_experiment, length) => exactly(length),
  until = Number.POSITIVE_INFINITY,
  check,
}: {
  clusters: SchedulerCluster[];
  arrivals: Arrival[];
  projects?: ReadonlyMap<string, ProjectPolicy>;
  known: (experiment: string) => boolean;
  spanOf?: (experiment: string, length: number) => Span;
  until?: number;
  check?: (step: Step) => void;
}): { started: Map<string, number>; queued: QueuedExperiment[] } {
  const coming = arrivals.toSorted((a, b) => a.at - b.at);
  const lengths = new Map(arrivals.map(({ item, length }) => [item.experiment, length]));
  const started = new Map<string, number>();
  let queued: QueuedExperiment[] = [];
  let running: Running[] = [];
  for (;;) {
    const now = Math.min(coming[0]?.at ?? Number.POSITIVE_INFINITY, ...running.map(({ ends }) => ends));
    if (now === Number.POSITIVE_INFINITY || now > until) return { started, queued };
    running = running
      .filter(({ ends }) => ends > now)
      .map((item) => ({ ...item, expected: notBefore(now, item.expected) }));
    while (coming[0] !== undefined && coming[0].at <= now) queued = joined(queued, coming.shift()!);
    const input: ScheduleInput = {
      queued,
      clusters,
      projects,
      now,
      allocations: Map.groupBy(running, (item) => item.cluster),
      ends: new Map(running.filter(isKnown).map(({ experiment, expected }) => [experiment, expected])),
      lengths: new Map(
        queued
          .filter(isKnown)
          .map(({ experiment }) => [experiment, spanOf(experiment, lengthOf(experiment))]),
      ),
    };
    const schedule = scheduleRound(input);
    const before = running;
    const starts = schedule.start.flatMap((start) => {
      started.set(start.experiment, now);
      const length = lengthOf(start.experiment);
      const expected = plus(exactly(now), spanOf(start.experiment, length));
      return allocationsOf(start).map((one) => ({
        ...one,
        ends: now + length,
        startedAt: now,
        expected,
      }));
    });
    running = [...running, ...starts];
    queued = queued.filter(({ experiment }) => !started.has(experiment));
    check?.({ now, input, schedule, before, after: running, lengths });
  }

  function isKnown({ experiment }: { experiment: string }): boolean {
    return known(experiment);
  }

  function lengthOf(experiment: string): number {
    return lengths.get(experiment)!;
  }
}

/** What is overdue ends now at the earliest. */
function notBefore(now: number, { early, likely, late }: Span): Span {
  return { early: Math.max(early, now), likely: Math.max(likely, now), late: Math.max(late, now) };
}

/** The line with one more, as the store keeps it: by priority, then by arrival. */
function joined(queued: QueuedExperiment[], { item, at }: Arrival): QueuedExperiment[] {
  return [...queued, { ...item, submittedAt: at }].toSorted(
    (a, b) => b.priority - a.priority || a.submittedAt - b.submittedAt,
  );
}
