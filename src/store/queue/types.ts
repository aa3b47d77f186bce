import type { PriorityClass } from '../../core/priority-class.ts';
import type { State } from '../../core/states.ts';
import type { ExpectedPlace, Pause, StartEstimate } from '../../schemas/answer-parts.ts';
import type { Project } from '../../schemas/project.ts';
import type { Allocation, Cluster } from '../clusters/types.ts';

/** A preempted experiment that has not stopped yet: for which queued experiment, and when it is stopped (ms since 1970). */
export interface Leaving {
  by: string;
  until: number;
}

/** What can be paused: all queues, the queue of a project, or a cluster. */
export type PauseTarget =
  | { kind: 'all' }
  | { kind: 'project'; name: string }
  | { kind: 'cluster'; name: string };

/** What can be closed: all queues, or the queue of a project. */
export type QueueTarget = Exclude<PauseTarget, { kind: 'cluster' }>;

/** Everything that is paused, and every closed queue. */
export interface Pauses {
  all: Pause | null;
  projects: ReadonlyMap<string, Pause>;
  clusters: ReadonlyMap<string, Pause>;
  /** Queues that accept no new experiments. */
  closed: { all: Pause | null; projects: ReadonlyMap<string, Pause> };
}

/** The findings of a scheduling round about a queued experiment. */
export interface WaitNote {
  reason: string;
  /** Its queue position in the round, from 1; absent if unknown. */
  rank?: number;
  /** Null if there is none; `unknown` says why. */
  estimate?: StartEstimate | null;
  unknown?: string;
  /** Absent without an estimate. */
  place?: ExpectedPlace;
}

/** Measured durations: their number, mean and standard deviation in ms. */
export interface Measured {
  count: number;
  meanMs: number;
  deviationMs: number;
}

/** The speed of an experiment. */
export interface Pace {
  attempt: number;
  startedAt: number | null;
  steps: number;
  /** The current step of this attempt and its start (by the cluster's clock); null before the first. */
  step: { number: number; at: number } | null;
  /** Durations of its steps, over all attempts; null if none is known. */
  perStep: Measured | null;
  /** Steps in the last checkpoint; 0 without one, or if its cluster was removed. */
  kept: number;
  /** The timeout of each attempt, and when the current attempt reaches it (ms since 1970); null without one. */
  timeoutMs: number | null;
  timeoutAt: number | null;
  /** Durations of the succeeded children of its sweep; null if none has succeeded, or without a sweep. */
  sweep: Measured | null;
}

/** The speed of an experiment, and what lists and the scheduler need of its record. */
export interface RecordedPace extends Pace {
  /** How often it was preempted. */
  preemptions: number;
  hasDeadline: boolean;
  /** Steps from one checkpoint to the next; null: not known. */
  saveEvery: number | null;
  name: string;
  state: State;
}

/** The first queued experiments of each project. */
export interface QueueWindow {
  /** In the order of the queue: by class and priority, then by arrival. */
  queued: QueuedExperiment[];
  /** Projects with further queued experiments. */
  truncated: ReadonlySet<string>;
}

/** A queued experiment. */
export interface QueuedExperiment {
  experiment: string;
  name: string;
  project: string;
  priority: number;
  /** Absent: `normal`. */
  priorityClass?: PriorityClass;
  cluster: string | null;
  /** Of all its nodes together. */
  gpus: number;
  cpus: number;
  /** Nodes among which its GPUs are divided evenly, all of them or none; absent: one. */
  nodes?: number;
  /** Labels that each of its nodes must have in Ray; absent: any node. */
  nodeLabels?: Readonly<Record<string, string>>;
  submittedAt: number;
  /** Its wait reason in words, from the last scheduling round; null before the first. */
  reason: string | null;
  /** ms since 1970 before which it does not start, because its last attempt was lost; null if that time has passed. */
  notBefore?: number | null;
  /** Nodes of its last attempt, if the cluster failed it: other nodes are preferred. Absent: none. */
  avoid?: readonly string[];
  /** Why it waits until then, in words; null: unknown. */
  waitsFor?: string | null;
  /**
   * The last checkpoint of its earlier attempts: it starts on that cluster, unless the cluster was removed. `shared`: or on one
   * with the same storage. Null: none, or one that every cluster reaches.
   */
  checkpoint?: { cluster: string; step: number; shared?: true } | null;
  /** Labels that its cluster must have, all of them; absent if it may have any. */
  labels?: Readonly<Record<string, string>>;
  /** Id of its sweep, if it has one. */
  sweep?: string | null;
  /** Its queue position in the last scheduling round, from 1; null if the round did not include it. */
  rank?: number | null;
  /** Its estimated start; null if there is none; `unknown` says why. */
  estimate?: StartEstimate | null;
  unknown?: string | null;
  /** Null without an estimate. */
  place?: ExpectedPlace | null;
  /** Its number in the order of arrival; absent if unknown. */
  arrival?: number;
  /** When its work would be saved if it started now, in ms since 1970. Set only by a scheduling round; absent: not known. */
  savesBy?: number;
}

/** The state of an experiment with a job on the board. */
export type QueueState = 'queued' | 'allocated';

/** A page of the queue. */
export interface QueuePage {
  /** By `position`: that of the last scheduling round; without one, the rank by priority and arrival. From 1. */
  queued: (QueuedExperiment & { position: number })[];
  /** Number of all queued experiments. */
  length: number;
  /** `after` of the next page; null: this is the last one. */
  next: string | null;
}

/** The allocations of a cluster, and the version that a further allocation has to name. */
export interface Holding {
  version: number;
  items: Allocation[];
}

/** The input of a scheduling round. */
export interface QueueSnapshot {
  /** Time of the read in ms since 1970, by the server's clock. */
  now: number;
  clusters: Cluster[];
  /** By cluster. */
  allocations: ReadonlyMap<string, Holding>;
  /** Allocations that ended within the last seconds, by cluster: its last report may still count them as used. */
  freed: ReadonlyMap<string, Allocation[]>;
  projects: Project[];
  pauses: Pauses;
  /** Versions of the projects' allocations; an allocation that names an older one is refused. */
  projectVersions: ReadonlyMap<string, number>;
  /** Preempted experiments that have not stopped yet. */
  leaving: ReadonlyMap<string, Leaving>;
  /** Version of `leaving`; a preemption that names an older one is refused. */
  preemptions: number;
  window: QueueWindow;
}
