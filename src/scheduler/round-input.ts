import type { Pause } from '../schemas/answer-parts.ts';
import type { Project } from '../schemas/project.ts';
import type { Allocation, Cluster } from '../store/clusters/types.ts';
import type { Pauses, QueuedExperiment, QueueSnapshot, RecordedPace } from '../store/queue/types.ts';
import type { SchedulerCluster, Span } from './nodes.ts';
import type { Victim } from './preemption.ts';
import type { ProjectPolicy } from './quotas.ts';
import type { ScheduleInput } from './schedule.ts';
import { slurmWait } from './slurm-words.ts';
import { expectedEnd, expectedLength, sinceCheckpoint, untilSaved } from './spans.ts';

/*
 * The input of a scheduling round from the state of the store. Scheduling rounds and what-if answers both use it, so that
 * they decide on the same figures.
 */

/** Number of queued experiments whose run times are known to a round: the first ones in the order of the queue. */
const PACED = 512;

/** Expected ends of running experiments, which of them may be preempted, and expected run times of queued ones. */
export type Paces = Required<Pick<ScheduleInput, 'ends' | 'victims' | 'lengths' | 'saves'>>;

/** The input of a round without the queued experiments and the paces. */
export function roundInput({
  now,
  clusters,
  projects,
  pauses,
  allocations,
  freed,
  leaving,
}: Omit<QueueSnapshot, 'window' | 'projectVersions' | 'preemptions'>) {
  return {
    clusters: clusters.map((cluster) => ({
      ...toSchedulerCluster(cluster),
      paused: pauseInWords(pauses.clusters.get(cluster.name)),
    })),
    allocations: new Map([...allocations].map(([name, { items }]) => [name, items])),
    freed,
    leaving,
    now,
    paused: pauseInWords(pauses.all),
    projects: toPolicies(projects, pauses),
  };
}

/** A stored cluster as the scheduler receives it. */
export function toSchedulerCluster(cluster: Cluster): SchedulerCluster {
  const { name, backfill, nodes, answering = false, draining = false, labels = {}, cordons = {} } = cluster;
  const { storage, nodeTypes = [], away = [], asked } = cluster;
  const slurm = slurmWait(cluster);
  return {
    name,
    backfill,
    nodes,
    answering,
    draining,
    labels,
    cordons,
    storage,
    nodeTypes,
    away,
    asked,
    slurm,
  };
}

function toPolicies(
  projects: readonly Pick<Project, 'name' | 'weight' | 'gpuQuota' | 'urgentGpuQuota'>[],
  pauses: Pauses,
): Map<string, ProjectPolicy> {
  const policies = new Map<string, ProjectPolicy>(
    projects.map(({ name, weight, gpuQuota, urgentGpuQuota }) => [
      name,
      { weight, gpuQuota, urgentGpuQuota },
    ]),
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

/** The experiments whose paces a round needs: all that have an allocation, and the first queued ones. */
export interface Paced {
  held: readonly Allocation[];
  queued: readonly string[];
}

/** See {@link Paced}. */
export function pacedOf(
  allocations: ReadonlyMap<string, readonly Allocation[]>,
  queued: readonly QueuedExperiment[],
): Paced {
  const first = queued.slice(0, PACED);
  return { held: [...allocations.values()].flat(), queued: first.map(({ experiment }) => experiment) };
}

/** The ids of {@link Paced}. */
export function pacedIds({ held, queued }: Paced): string[] {
  return [...held.map(({ experiment }) => experiment), ...queued];
}

/** What the speeds of experiments (by id) mean for a round at `now` (ms since 1970). */
export function toPaces(
  { held, queued }: Paced,
  paces: ReadonlyMap<string, RecordedPace>,
  now: number,
): Paces {
  const ends = new Map<string, Span>();
  const lengths = new Map<string, Span>();
  const saves = new Map<string, number>();
  for (const { experiment: id } of held) {
    const pace = paces.get(id);
    const end = pace && expectedEnd(pace, now);
    if (end) ends.set(id, end);
  }
  for (const id of queued) {
    const pace = paces.get(id);
    const length = pace && expectedLength(pace);
    if (length) lengths.set(id, length);
    const saved = pace && untilSaved(pace);
    if (saved != null) saves.set(id, saved);
  }
  const victims = new Map<string, Victim>();
  for (const { experiment, project, priorityClass } of held) {
    const pace = priorityClass === 'batch' ? paces.get(experiment) : undefined;
    // An experiment with a deadline would miss it for another's sake.
    if (pace === undefined || pace.state !== 'running' || pace.hasDeadline) continue;
    const { attempt, kept: step, preemptions: times, startedAt } = pace;
    victims.set(experiment, {
      ...{ project, attempt, times, step, startedAt },
      lostMs: sinceCheckpoint(pace, now),
    });
  }
  return { ends, victims, lengths, saves };
}
