import type { Ended } from '../../core/events.ts';
import type { State } from '../../core/states.ts';

/** The right to write for an attempt. */
export interface Lease {
  experiment: string;
  attempt: number;
  token: string;
}

/** Where an attempt's end leads. `queued` puts the experiment back into the queue, at its old position. */
export type EndDecision =
  | { to: 'succeeded' | 'cancelled'; reason: string }
  /** `quarantined`: it ended ours again and again. */
  | { to: 'failed'; reason: string; quarantined?: true }
  /**
   * `attemptsAbove`: the next attempt is numbered above this, because a cluster knows attempts up to there. `waitMs`: the
   * next attempt waits so long.
   */
  | { to: 'queued'; reason: string; attemptsAbove?: number; waitMs?: number };

/** What the reader of one lease learns at renewal. */
export interface Renewal {
  lease: Lease;
  /** `lost`: another holds it, or the attempt is over; stop writing. */
  status: 'held' | 'lost';
  state: State;
  /** Why the attempt must be ended now (its timeout, its deadline), in words; null: it may go on. */
  limitReached: string | null;
}

/** An attempt whose lease this dispatcher has just taken from a dispatcher that let it expire. */
export interface TakenOver {
  lease: Lease;
  state: State;
  cluster: string;
  /**
   * False where the launch was never confirmed. `launching`: the attempt is new, and `attempt - 1` must be fenced
   * before it is launched. `cancelling`: the attempt is the old one, and has to be stopped (a tombstone).
   */
  confirmed: boolean;
  lastSequence: number;
  /** Crashes in a row with which it is charged. */
  crashes: Crash[];
}

/** One attempt's own record. */
export interface Attempt {
  attempt: number;
  cluster: string;
  claimedAt: number;
  /** Set once Launch was answered by the ray-worker. */
  confirmedAt: number | null;
  /** Set where it was never confirmed and its dispatcher's lease was taken over: the next attempt stands for it. */
  givenUpAt: number | null;
  lastSequence: number;
  ended: Ended | null;
}

/** What a scheduling round decided of one experiment, and the versions that it decided on. */
export interface AllocationInput {
  experiment: string;
  cluster: string;
  node: string;
  gpus: number;
  cpus: number;
  reservationVersion: number;
  /** Its quota counts the allocation. */
  project: string;
  /** Of `projectVersions`, if the project has a quota. */
  projectVersion?: number;
}

/** What became of a start. `changed`: the round decided on an older state, or nothing new may start there. */
export type Allocated = 'allocated' | 'not-queued' | 'changed';

/**
 * What acquiring an attempt led to. `busy`: the dispatcher has a suspect in its hands (see `takeOver`), or makes room for
 * one. `queued`: nothing is allocated to the experiment. `over`: it has ended, or a dispatcher has acquired the attempt.
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

/** Attempts, their allocations and leases: from the start of an attempt to its end. */
export interface AttemptStore {
  /** The attempts of an experiment, the first one first. */
  list(id: string): Promise<Attempt[]>;
  /**
   * Carries out what one round decided, in one step: raises the attempt of each experiment, takes it out of the queue and
   * allocates GPUs and CPUs to it. What changed since the round read it is judged as it was before this step.
   */
  allocate(starts: readonly AllocationInput[]): Promise<Allocated[]>;
  /** Experiments whose attempt was allocated `olderThanMs` ago or earlier and not acquired since; the oldest first. */
  allocated(input: { olderThanMs: number; limit: number }): Promise<string[]>;
  /** Takes the lease of an allocated attempt. A repeated call with the same token (a new UUID) finds its own lease. */
  acquire(input: {
    experiment: string;
    dispatcher: string;
    leaseMs: number;
    token: string;
  }): Promise<Acquired>;
  /** Records that Launch was answered; launching → running (a cancelling one stays so). Settles. Returns the state. */
  confirm(lease: Lease): Promise<State>;
  /**
   * Records that this dispatcher has survived the launch or takeover of an attempt: the attempt is no suspect. May be
   * repeated; without effect for a lease that is lost.
   */
  settle(lease: Lease): Promise<void>;
  renew(leases: readonly Lease[], leaseMs: number): Promise<Renewal[]>;
  /**
   * Takes expired leases. Attempts that a lost dispatcher was launching or taking over are suspects. With `suspects` at
   * most one of them is taken, and only by a dispatcher that has no other attempt unsettled. Until that one is settled,
   * the dispatcher can acquire nothing. A suspect with which a dispatcher is lost alone is charged with the crash.
   */
  takeOver(input: {
    dispatcher: string;
    leaseMs: number;
    limit: number;
    /** Default: false. */
    suspects?: boolean;
  }): Promise<TakenOver[]>;
  /** How many leases there are, and how many of them ran out without anybody taking the attempt over yet. */
  leases(): Promise<{ held: number; expired: number }>;
  /** Lets leases expire now, so that another dispatcher takes over at once. */
  release(leases: readonly Lease[]): Promise<void>;
  /**
   * The attempt's end: final state or back into the queue; gives back lease and reservation. To be called only when
   * the attempt's driver cannot run any more: its exit is recorded, or the attempt is fenced. Returns the recorded
   * state: `cancelled`, whatever was decided, where a cancel came first; with `attemptsAbove`, where another attempt
   * may still run, it is then still `cancelling` and nothing was done. Repeated after it was done: `lease-lost`.
   */
  end(lease: Lease, decision: EndDecision): Promise<State>;
}
