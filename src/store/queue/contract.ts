import type { Waiting } from './line-contract.ts';

/** What can be paused: the whole line, the queue of a project, or a cluster. */
export type PauseTarget =
  | { kind: 'line' }
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

/** Everything that is paused, and what is drained. */
export interface Pauses {
  line: Pause | null;
  projects: ReadonlyMap<string, Pause>;
  clusters: ReadonlyMap<string, Pause>;
  /** Queues that take nothing new. */
  draining: { line: Pause | null; projects: ReadonlyMap<string, Pause> };
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
export interface LineWindow {
  /** In the order of the line: by priority, then by arrival. */
  waiting: Waiting[];
  /** Projects of which more wait than were read. */
  truncated: ReadonlySet<string>;
}

/** The queue: who waits, in which order, what is paused, and what was found of those that wait. */
export interface QueueStore {
  /** The first `perProject` of each project. */
  lineWindow(perProject: number): Promise<LineWindow>;
  /** One that waits, with what was noted of it; undefined where it does not. */
  waitNote(id: string): Promise<Waiting | undefined>;
  noteWaiting(notes: ReadonlyMap<string, WaitNote>): Promise<void>;
  /**
   * `not-waiting`: it has its place on a cluster already, or has ended; nothing was changed. Throws
   * `precondition-failed` where it has another `version`.
   */
  setPriority(
    id: string,
    priority: number,
    version?: string,
  ): Promise<'changed' | 'not-waiting' | 'not-found'>;
  /** Null resumes it. A claim that was decided before a pause is refused after it. False: there is no such cluster. */
  setPaused(target: PauseTarget, pause: Pause | null): Promise<boolean>;
  /**
   * While a queue is drained, submissions, sweeps and re-runs are refused with `queue-draining`; what was accepted goes on,
   * children of its sweeps included. Null resumes it.
   */
  setDrained(target: QueueTarget, by: Pause | null): Promise<void>;
  pauses(): Promise<Pauses>;
  /** Versions of what projects hold, to be read before the reservations; a claim against an older one is refused. */
  projectVersions(): Promise<ReadonlyMap<string, number>>;
  /** How fast these go; those without a record are left out. */
  paces(ids: readonly string[]): Promise<Map<string, Pace>>;
  /**
   * Sets what people decide of a cluster; null forgets it. False: there is no such cluster. Throws
   * `precondition-failed` where it has another `version`.
   */
  setCluster(
    name: string,
    change: {
      labels?: Readonly<Record<string, string>>;
      backfill?: boolean | null;
      codePaths?: readonly string[];
    },
    version?: string,
  ): Promise<boolean>;
}
