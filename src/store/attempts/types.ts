import type { Ended } from '../../core/events.ts';
import type { AttemptName } from '../../core/ids.ts';
import type { AllocatedNode } from '../../core/launch-plan.ts';
import type { PriorityClass } from '../../core/priority-class.ts';
import type { State } from '../../core/states.ts';

/** The right to write for an attempt. */
export interface Lease extends AttemptName {
  token: string;
}

/**
 * Where an attempt's end leads. `queued` puts the experiment back into the queue, at its old position. `ended`: how the attempt
 * ended, if its own events do not say it.
 */
export type EndDecision = { ended?: Ended } & (
  | { to: 'succeeded' | 'cancelled'; reason: string }
  /** `quarantined`: the attempt repeatedly crashed dispatchers. */
  | { to: 'failed'; reason: string; quarantined?: true }
  /**
   * `attemptsAbove`: the next attempt is numbered above this, because a cluster knows attempts up to there. `waitMs`: the
   * next attempt waits so long. `waitsFor`: why, in words. `avoid`: nodes
   * that it leaves to others if possible. `portable`: the next attempt may resume from its checkpoint on any cluster.
   */
  | {
      to: 'queued';
      reason: string;
      attemptsAbove?: number;
      waitMs?: number;
      waitsFor?: string;
      avoid?: string[];
      portable?: true;
    }
);

/** The outcome of a lease's renewal. */
export interface Renewal {
  lease: Lease;
  /** `lost`: another dispatcher has the lease, or the attempt is over; stop writing. */
  status: 'held' | 'lost';
  state: State;
  /** Why the attempt must end now (its timeout, its deadline), in words; null if it may continue. */
  limitReached: string | null;
  /** It is to leave its nodes: at its next checkpoint, or in time before `remainingMs`; null: it may stay. */
  preemption: { remainingMs: number; reason: string } | null;
}

/** An attempt whose lease this dispatcher has just taken from a dispatcher that let it expire. */
export interface TakenOver {
  lease: Lease;
  state: State;
  cluster: string;
  /**
   * False if the launch was never confirmed. `launching`: the attempt is launched again, which has no effect if the launch
   * has arrived. `cancelling`: it has to be stopped (a tombstone).
   */
  confirmed: boolean;
  lastSequence: number;
  /** Crashes in a row with which it is charged. */
  crashes: Crash[];
}

/** The record of an attempt. */
export interface Attempt {
  attempt: number;
  cluster: string;
  claimedAt: number;
  /** Set when the ray-worker has answered Launch. */
  confirmedAt: number | null;
  lastSequence: number;
  ended: Ended | null;
}

/** An experiment's present attempt; 0: it has had none. */
export interface PresentAttempt {
  attempt: number;
  state: State;
  /** Cluster of the latest attempt. */
  cluster: string | null;
}

/** The decision of a scheduling round about one experiment, and the versions that it read. */
export interface AllocationInput {
  experiment: string;
  cluster: string;
  /** At least one, those with GPUs first. */
  nodes: readonly AllocatedNode[];
  allocationVersion: number;
  /** Its quota counts the allocation. */
  project: string;
  /** Absent: `normal`. */
  priorityClass?: PriorityClass;
  /** Of `projectVersions`, if the project has a quota. */
  projectVersion?: number;
  /** The checkpoint that it cannot resume from, because the cluster of the checkpoint was removed. */
  abandons?: { cluster: string; step: number };
}

/** The decision of a scheduling round that running experiments leave for a queued one, and the versions that it read. */
export interface PreemptionInput {
  /** The queued experiment. */
  experiment: string;
  cluster: string;
  victims: readonly AttemptName[];
  allocationVersion: number;
  preemptions: number;
  withinMs: number;
  maxTimes: number;
}

/** The outcome of an allocation. `changed`: the round read an older state, or nothing new may start there. */
export type Allocated = 'allocated' | 'not-queued' | 'changed';

/**
 * The outcome of acquiring an attempt. `busy`: the dispatcher has a suspect (see `takeOver`) or prepares for one, or does not
 * reach the cluster. `queued`: nothing is allocated to the experiment. `over`: it has ended, or a dispatcher has acquired the attempt.
 */
export type Acquired =
  | { outcome: 'acquired'; lease: Lease; cluster: string }
  | { outcome: 'busy' | 'queued' | 'over' };

/** The loss of a dispatcher while it launched or took over one attempt, and nothing else. */
export interface Crash {
  /** When its lease was found expired, in ms since 1970, by the server's clock. */
  at: number;
  attempt: number;
  /** The dispatcher that was lost. */
  dispatcher: string;
  during: 'launch' | 'takeover';
}
