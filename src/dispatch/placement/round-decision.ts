import { type Paces, pacedIds, pacedOf, roundInput, toPaces } from '../../scheduler/round-input.ts';
import { type Schedule, type ScheduleInput, scheduleRound } from '../../scheduler/schedule.ts';
import type { Allocation } from '../../store/clusters/types.ts';
import type { QueuedExperiment } from '../../store/queue/types.ts';
import type { Store } from '../../store/store.ts';

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
  /** Version of the preemptions. */
  preemptions: number;
}

/** Milliseconds since any moment, by a clock that cannot be set: times between two rounds are measured with it. */
export type Elapsed = () => number;

/** The first window over all projects. It grows while a cluster may start more experiments. */
const WINDOW = 256;
/** Minimum window of each project. */
const MIN_WINDOW = 16;
const MAX_WINDOW = 16_384;
/** The maximum window if only backfill may start more. Slurm's sched/backfill examines 500 jobs (bf_max_job_test). */
const BACKFILL_WINDOW = 1_024;
/** A long window that found no further start is not read again before this multiple of its time has passed. */
const REST_FACTOR = 4;
/** Time between two reads of the paces. */
const PACES_MS = 1_000;

/** Reads the queue and the clusters, and decides which experiments start. */
export function createRoundDecider({
  store,
  elapsed,
  preemptWithinMs,
}: {
  store: Pick<Store, 'queue'>;
  elapsed: Elapsed;
  /** Default: `PREEMPT_WITHIN_MS`. */
  preemptWithinMs?: number | undefined;
}): () => Promise<RoundDecision> {
  const paces = createPaces(store, elapsed);
  let known = 1;
  let nearUntil = Number.NEGATIVE_INFINITY;
  return async () => {
    let limit = Math.max(MIN_WINDOW, Math.ceil(WINDOW / known));
    const seen = await store.queue.snapshot(limit);
    const at = elapsed();
    const common = { ...roundInput(seen), preemptWithinMs };
    const quotas = seen.projects.filter(
      ({ gpuQuota, urgentGpuQuota }) => gpuQuota !== null || (urgentGpuQuota ?? 0) > 0,
    );
    const versions = new Map([...seen.allocations].map(([name, { version }]) => [name, version]));
    const projectVersions = new Map(quotas.map(({ name }) => [name, seen.projectVersions.get(name) ?? 0]));
    let near: number | undefined;
    for (let window = seen.window; ; window = await store.queue.window(limit)) {
      limit *= 4;
      const { queued, truncated } = window;
      known = Math.max(1, new Set(queued.map(({ project }) => project)).size);
      const input = { ...common, queued, truncated, ...(await paces(common, queued)) };
      const schedule = scheduleRound(input);
      if (schedule.dry === null || queued.length >= windowFor(schedule) || at < nearUntil) {
        if (near !== undefined && schedule.start.length <= near)
          nearUntil = elapsed() + REST_FACTOR * (elapsed() - at);
        const { preemptions } = seen;
        return { input, queued, schedule, versions, projectVersions, preemptions };
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

/**
 * Expected ends and run times. They are read at most once in {@link PACES_MS}, or earlier if the number of queued
 * experiments has doubled; for newer experiments nothing is known until then.
 */
function createPaces(store: Pick<Store, 'queue'>, elapsed: Elapsed) {
  let readAt = Number.NEGATIVE_INFINITY;
  let readOf = 1;
  let last: Paces = { ends: new Map(), victims: new Map(), lengths: new Map(), saves: new Map() };
  return async (
    { allocations, now }: { allocations: ReadonlyMap<string, readonly Allocation[]>; now: number },
    queued: readonly QueuedExperiment[],
  ): Promise<Paces> => {
    const at = elapsed();
    const paced = pacedOf(allocations, queued);
    if (at - readAt < PACES_MS && paced.queued.length < 2 * readOf) return last;
    readAt = at;
    readOf = Math.max(1, paced.queued.length);
    last = toPaces(paced, await store.queue.paces(pacedIds(paced)), now);
    return last;
  };
}
