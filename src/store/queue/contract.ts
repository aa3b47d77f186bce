import type { Project } from '../../schemas/project.ts';
import type { Cluster, Reservation } from '../clusters/contract.ts';

/** What can be paused: the whole line, the queue of a project, or a cluster. */
export type PauseTarget =
  | { kind: 'all' }
  | { kind: 'project'; name: string }
  | { kind: 'cluster'; name: string };

/** A queue: the whole line, or that of a project. */
export type QueueTarget = Exclude<PauseTarget, { kind: 'cluster' }>;

/** Who paused it, when (ms since 1970) and why. */
export interface Pause {
  by: string;
  at: number;
  reason: string | null;
}

/** Everything that is paused, and every closed queue. */
export interface Pauses {
  all: Pause | null;
  projects: ReadonlyMap<string, Pause>;
  clusters: ReadonlyMap<string, Pause>;
  /** Queues that take nothing new. */
  closed: { all: Pause | null; projects: ReadonlyMap<string, Pause> };
}

/** When an experiment is expected to start; ms since 1970. */
export interface StartEstimate {
  startAt: number;
  earliest: number;
  latest: number;
}

/** What a choice found of an experiment that waits. */
export interface WaitNote {
  reason: string;
  /** Its place in the order of the choice, from 1; absent: not known. */
  rank?: number;
  /** Null: `unknown` says why there is none. */
  estimate?: StartEstimate | null;
  unknown?: string;
}

/** Lengths that were measured: how many, and their mean and standard deviation in ms. */
export interface Measured {
  count: number;
  meanMs: number;
  deviationMs: number;
}

/** How fast an experiment goes. */
export interface Pace {
  attempt: number;
  startedAt: number | null;
  steps: number;
  /** The step of this attempt that runs, and when it began (by the cluster's clock); null: none has begun. */
  step: { number: number; at: number } | null;
  /** Lengths of its steps, over all attempts; null: none is known. */
  perStep: Measured | null;
  /** Steps that a checkpoint keeps; 0: there is none. */
  kept: number;
  /** The timeout of each attempt, and when that of the present one is over (ms since 1970); null: there is none. */
  timeoutMs: number | null;
  timeoutAt: number | null;
  /** Its sweep's children that have succeeded: from start to end; null: none has, or it is of no sweep. */
  sweep: Measured | null;
}

/** The line as the choice reads it. */
export interface QueueWindow {
  /** In the order of the line: by priority, then by arrival. */
  waiting: Waiting[];
  /** Projects of which more wait than were read. */
  truncated: ReadonlySet<string>;
}

/** An experiment in the line, in the order of the line. */
export interface Waiting {
  experiment: string;
  name: string;
  project: string;
  priority: number;
  cluster: string | null;
  gpus: number;
  cpus: number;
  submittedAt: number;
  /** Why it waits, in words, as the last choice said; null before the first. */
  reason: string | null;
  /** ms since 1970 before which it does not start, because its last attempt was lost; null where that has passed. */
  notBefore?: number | null;
  /** Labels that its cluster must have, all of them; absent: any. */
  labels?: Readonly<Record<string, string>>;
  /** Id of its sweep, where it is of one. */
  sweep?: string | null;
  /** Its place in the order of the last choice, from 1; null: it was not looked at. */
  rank?: number | null;
  /** When it is expected to start; null: `unknown` says why that is not known. */
  estimate?: StartEstimate | null;
  unknown?: string | null;
}

/** What an experiment's job on the board stands for. */
export type QueueState = 'queued' | 'allocated';

/** A page of the queue. */
export interface QueuePage {
  /** By `position`: that of the last scheduling round; without one, the rank by priority and arrival. From 1. */
  waiting: (Waiting & { position: number })[];
  /** Number of all queued experiments. */
  length: number;
  /** `after` of the next page; null: this is the last one. */
  next: string | null;
}

/** What a cluster holds, and the version that a claim on it has to name. */
export interface Holding {
  version: number;
  items: Reservation[];
}

/** All that the next start is chosen from. */
export interface QueueSnapshot {
  clusters: Cluster[];
  /** By cluster. */
  reservations: ReadonlyMap<string, Holding>;
  projects: Project[];
  pauses: Pauses;
  /** Versions of what projects hold; a claim against an older one is refused. */
  projectVersions: ReadonlyMap<string, number>;
  window: QueueWindow;
}

/** The queue: who waits, in which order, what is paused, and what was found of those that wait. */
export interface QueueStore {
  /** The first `perProject` of each project. */
  window(perProject: number): Promise<QueueWindow>;
  /** One that waits, with what was noted of it; undefined where it does not. */
  get(id: string): Promise<Waiting | undefined>;
  note(notes: ReadonlyMap<string, WaitNote>): Promise<void>;
  /**
   * `not-waiting`: it has its place on a cluster already, or has ended; nothing was changed. Throws
   * `precondition-failed` where it has another `revision`.
   */
  setPriority(
    id: string,
    priority: number,
    revision?: number,
  ): Promise<'changed' | 'not-waiting' | 'not-found'>;
  /** Null resumes it. A claim that was decided before a pause is refused after it. False: there is no such cluster. */
  setPaused(target: PauseTarget, pause: Pause | null): Promise<boolean>;
  /**
   * While a queue is closed, submissions, sweeps and re-runs are refused with `queue-closed`; what was accepted goes on,
   * children of its sweeps included. Null resumes it.
   */
  setClosed(target: QueueTarget, by: Pause | null): Promise<void>;
  pauses(): Promise<Pauses>;
  /** Versions of what projects hold, to be read before the reservations; a claim against an older one is refused. */
  projectVersions(): Promise<ReadonlyMap<string, number>>;
  /** How fast these go; those without a record are left out. */
  paces(ids: readonly string[]): Promise<Map<string, Pace>>;
  /**
   * A page of the queue, or of one project's part of it. Pages follow one another by priority and arrival, so an
   * experiment that stays queued at the same priority is on exactly one of them.
   */
  page(input: { limit: number; project?: string; after?: string }): Promise<QueuePage>;
  first(limit: number): Promise<Waiting[]>;
  /** Number in the line, and this experiment's rank from 1 (null where it does not wait). */
  position(id: string): Promise<{ rank: number | null; length: number }>;
  /** Experiments that wait, in the order of the line: `limit` from place `from` (0 where it is left out) on. */
  ids(limit: number, from?: number): Promise<string[]>;
  /** Those of them that have a job on the board: queued, or allocated and not acquired by a dispatcher. */
  states(ids: readonly string[]): Promise<Map<string, QueueState>>;
  /**
   * Everything as it is at one moment, with the first `perProject` of each project's line. A very long window is read
   * after the rest; the versions are then older than it, never newer than the reservations.
   */
  snapshot(perProject: number): Promise<QueueSnapshot>;
}
