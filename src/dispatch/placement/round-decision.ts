import type { Span } from '../../scheduler/nodes.ts';
import type { ProjectPolicy } from '../../scheduler/quotas.ts';
import { type Schedule, type ScheduleInput, scheduleRound } from '../../scheduler/schedule.ts';
import { expectedEnd, expectedLength } from '../../scheduler/spans.ts';
import type { Allocation } from '../../store/clusters/contract.ts';
import type { Pause, Pauses, QueuedExperiment } from '../../store/queue/contract.ts';
import type { StorePart } from '../../store/store.ts';
import { toSchedulerCluster } from '../clusters/clusters.ts';

/*
 * Invariant: the versions of a decision are not newer than the allocations that were read. If an allocation has changed
 * since, the store refuses the starts that were decided on it.
 */

/** A schedule, and the state on which it was decided. */
export interface RoundDecision {
  input: ScheduleInput;
  queued: readonly QueuedExperiment[];
  schedule: Schedule;
  /** Version of each cluster's allocations. */
  versions: Map<string, number>;
  /** Version of each project's allocations, for projects with a quota. */
  projectVersions: Map<string, number>;
}

/** The store operations of a decision. */
export type DecisionStore = StorePart<'queue.snapshot' | 'queue.window' | 'queue.paces'>;

/** The first window over all projects. It grows while a cluster may start more experiments. */
const WINDOW = 256;
/** Minimum window of each project. */
const MIN_WINDOW = 16;
const MAX_WINDOW = 16_384;
/** The maximum window if only backfill may start more. Slurm's sched/backfill examines 500 jobs (bf_max_job_test). */
const BACKFILL_WINDOW = 1_024;
/** A long window that found no further start is not read again before this multiple of its time has passed. */
const REST_FACTOR = 4;
/** Time between two reads of the paces, and the number of queued experiments whose paces are read. */
const PACES_MS = 1_000;
const PACED = 512;

/** Reads the queue and the clusters, and decides which experiments start. */
export function createRoundDecider({
  store,
  now,
}: {
  store: DecisionStore;
  now: () => number;
}): () => Promise<RoundDecision> {
  const paces = createPaces(store, now);
  let known = 1;
  let nearUntil = Number.NEGATIVE_INFINITY;
  return async () => {
    let limit = Math.max(MIN_WINDOW, Math.ceil(WINDOW / known));
    const seen = await store.queue.snapshot(limit);
    const { clusters, projects, pauses } = seen;
    const held = [...seen.allocations];
    const allocations = new Map(held.map(([name, { items }]) => [name, items]));
    const at = now();
    const common = {
      clusters: clusters.map((cluster) => ({
        ...toSchedulerCluster(cluster),
        paused: pauseInWords(pauses.clusters.get(cluster.name)),
      })),
      ...{ allocations, now: at, paused: pauseInWords(pauses.all) },
      projects: toPolicies(projects, pauses),
    };
    const quotas = projects.filter(({ gpuQuota }) => gpuQuota !== null);
    const versions = new Map(held.map(([name, { version }]) => [name, version]));
    const projectVersions = new Map(quotas.map(({ name }) => [name, seen.projectVersions.get(name) ?? 0]));
    let near: number | undefined;
    for (let window = seen.window; ; window = await store.queue.window(limit)) {
      limit *= 4;
      const { queued, truncated } = window;
      known = Math.max(1, new Set(queued.map(({ project }) => project)).size);
      const input = { ...common, queued, truncated, ...(await paces(allocations, queued)) };
      const schedule = scheduleRound(input);
      if (schedule.dry === null || queued.length >= windowFor(schedule) || at < nearUntil) {
        if (near !== undefined && schedule.start.length <= near)
          nearUntil = now() + REST_FACTOR * (now() - at);
        return { input, queued, schedule, versions, projectVersions };
      }
      near ??= schedule.start.length;
    }
  };
}

/** How many queued experiments the decision is worth reading, by the schedule of the first window. */
function windowFor({ open, filling }: Schedule): number {
  if (open.length > 0) return MAX_WINDOW;
  return filling.length > 0 ? BACKFILL_WINDOW : 0;
}

function toPolicies(
  projects: readonly { name: string; weight: number; gpuQuota: number | null }[],
  pauses: Pauses,
): Map<string, ProjectPolicy> {
  const policies = new Map<string, ProjectPolicy>(
    projects.map(({ name, weight, gpuQuota }) => [name, { weight, gpuQuota }]),
  );
  for (const [name, pause] of pauses.projects)
    policies.set(name, {
      ...(policies.get(name) ?? { weight: 1, gpuQuota: null }),
      paused: pauseInWords(pause),
    });
  return policies;
}

/** For example " by ann: upgrade"; null: not paused. */
export function pauseInWords(pause: Pause | null | undefined): string | null {
  if (pause == null) return null;
  return ` by ${pause.by}${pause.reason === null ? '' : `: ${pause.reason}`}`;
}

type Paces = Required<Pick<ScheduleInput, 'ends' | 'lengths'>>;

/**
 * Expected ends and run times. They are read at most once in {@link PACES_MS}, or earlier if the number of queued
 * experiments has doubled; for newer experiments nothing is known until then.
 */
function createPaces(store: StorePart<'queue.paces'>, now: () => number) {
  let readAt = Number.NEGATIVE_INFINITY;
  let readOf = 1;
  let last: Paces = { ends: new Map(), lengths: new Map() };
  return async (
    allocations: ReadonlyMap<string, readonly Allocation[]>,
    queued: readonly QueuedExperiment[],
  ): Promise<Paces> => {
    const at = now();
    const asked = queued.slice(0, PACED).map(({ experiment }) => experiment);
    if (at - readAt < PACES_MS && asked.length < 2 * readOf) return last;
    readAt = at;
    readOf = Math.max(1, asked.length);
    const running = [...allocations.values()].flat().map(({ experiment }) => experiment);
    const paces = await store.queue.paces([...running, ...asked]);
    const ends = new Map<string, Span>();
    const lengths = new Map<string, Span>();
    for (const id of running) {
      const pace = paces.get(id);
      const end = pace && expectedEnd(pace, at);
      if (end) ends.set(id, end);
    }
    for (const id of asked) {
      const pace = paces.get(id);
      const length = pace && expectedLength(pace);
      if (length) lengths.set(id, length);
    }
    last = { ends, lengths };
    return last;
  };
}
