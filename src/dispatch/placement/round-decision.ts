import type { Span } from '../../scheduler/nodes.ts';
import type { ProjectPolicy } from '../../scheduler/quotas.ts';
import { type Schedule, type ScheduleInput, scheduleRound } from '../../scheduler/schedule.ts';
import { expectedEnd, expectedLength } from '../../scheduler/spans.ts';
import type { Reservation } from '../../store/clusters/contract.ts';
import type { Pause, Pauses, Waiting } from '../../store/queue/contract.ts';
import type { StorePart } from '../../store/store.ts';
import { toClusterView } from '../clusters/clusters.ts';

/*
 * What always holds: the versions of a schedule are not newer than the reservations that were read, so that an allocation
 * that was decided on it is refused if any of them has changed since.
 */

/** What one round decided, and on what. */
export interface RoundDecision {
  input: ScheduleInput;
  waiting: readonly Waiting[];
  schedule: Schedule;
  /** Of each cluster's reservations. */
  versions: Map<string, number>;
  /** Of what projects hold; only of those that have a quota. */
  projectVersions: Map<string, number>;
}

/** What a decision reads of the store. */
export type DecisionStore = StorePart<'queue.snapshot' | 'queue.window' | 'queue.paces'>;

/** The first look at the line, over all projects; grows while a cluster is left open at its end. */
const WINDOW = 256;
/** Of each project at least. */
const MIN_WINDOW = 16;
const LONGEST_WINDOW = 16_384;
/** Where all that is left is to start out of turn. Slurm's sched/backfill looks at 500 (bf_max_job_test). */
const BACKFILL_WINDOW = 1_024;
/** A look far down the line that found nobody more to start is not repeated before so many times what it took. */
const REST_AFTER_NOBODY = 4;
/** Paces are read at most so often; of so many that wait. */
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
    const held = [...seen.reservations];
    const reservations = new Map(held.map(([name, { items }]) => [name, items]));
    const at = now();
    const common = {
      clusters: clusters.map((cluster) => ({
        ...toClusterView(cluster),
        paused: inWords(pauses.clusters.get(cluster.name)),
      })),
      ...{ reservations, now: at, paused: inWords(pauses.all) },
      projects: toPolicies(projects, pauses),
    };
    const quotas = projects.filter(({ gpuQuota }) => gpuQuota !== null);
    const versions = new Map(held.map(([name, { version }]) => [name, version]));
    const projectVersions = new Map(quotas.map(({ name }) => [name, seen.projectVersions.get(name) ?? 0]));
    let near: number | undefined;
    for (let window = seen.window; ; window = await store.queue.window(limit)) {
      limit *= 4;
      const { waiting, truncated } = window;
      known = Math.max(1, new Set(waiting.map(({ project }) => project)).size);
      const input = { ...common, waiting, truncated, ...(await paces(reservations, waiting)) };
      const schedule = scheduleRound(input);
      if (schedule.dry === null || waiting.length >= windowFor(schedule) || at < nearUntil) {
        if (near !== undefined && schedule.start.length <= near)
          nearUntil = now() + REST_AFTER_NOBODY * (now() - at);
        return { input, waiting, schedule, versions, projectVersions };
      }
      near ??= schedule.start.length;
    }
  };
}

/** How much of the line is worth looking at, as the schedule over its beginning says. */
function windowFor({ open, filling }: Schedule): number {
  if (open.length > 0) return LONGEST_WINDOW;
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
    policies.set(name, { ...(policies.get(name) ?? { weight: 1, gpuQuota: null }), paused: inWords(pause) });
  return policies;
}

/** " by ann: upgrade"; null where nothing is paused. */
export function inWords(pause: Pause | null | undefined): string | null {
  if (pause == null) return null;
  return ` by ${pause.by}${pause.reason === null ? '' : `: ${pause.reason}`}`;
}

type Paces = Required<Pick<ScheduleInput, 'ends' | 'lengths'>>;

/**
 * Expected ends and lengths, read anew at most once in {@link PACES_MS}, or for twice as many: of what is newer, nobody
 * knows yet.
 */
function createPaces(store: StorePart<'queue.paces'>, now: () => number) {
  let readAt = Number.NEGATIVE_INFINITY;
  let readOf = 1;
  let last: Paces = { ends: new Map(), lengths: new Map() };
  return async (
    reservations: ReadonlyMap<string, readonly Reservation[]>,
    waiting: readonly Waiting[],
  ): Promise<Paces> => {
    const at = now();
    // Of one that neither is of a sweep nor had an attempt before, nothing is measured.
    const asked = waiting.slice(0, PACED).map(({ experiment }) => experiment);
    if (at - readAt < PACES_MS && asked.length < 2 * readOf) return last;
    readAt = at;
    readOf = Math.max(1, asked.length);
    const running = [...reservations.values()].flat().map(({ experiment }) => experiment);
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
