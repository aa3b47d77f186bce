import type { State } from '../../core/states.ts';
import type { Crash } from './limits-contract.ts';

/** The right to write for an attempt. */
export interface Lease {
  experiment: string;
  attempt: number;
  token: string;
}

/** Where an attempt's end leads. `retry` puts the experiment back into the line, at its old place. */
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

/** Claims and leases: from the start of an attempt to its end. */
export interface LeaseStore {
  /** Raises the attempt, takes the lease, the reservation and the place out of the line, all or nothing. */
  claim(input: {
    experiment: string;
    cluster: string;
    node: string;
    gpus: number;
    cpus: number;
    reservationVersion: number;
    /** Whose quota it counts against. */
    project?: string;
    /** Of `projectVersions`, where the project has a quota. */
    projectVersion?: number;
    dispatcher: string;
    leaseMs: number;
  }): Promise<
    | { outcome: 'claimed'; lease: Lease }
    | { outcome: 'not-waiting' }
    | { outcome: 'changed' }
    /** The dispatcher has a suspect in its hands (see `takeOver`), or makes room for one. A wake-up follows. */
    | { outcome: 'busy' }
  >;
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
   * the dispatcher can claim nothing. A suspect with which a dispatcher is lost alone is charged with the crash.
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
   * The attempt's end: final state or back into the line; gives back lease and reservation. To be called only when
   * the attempt's driver cannot run any more: its exit is recorded, or the attempt is fenced. Returns the recorded
   * state: `cancelled`, whatever was decided, where a cancel came first; with `attemptsAbove`, where another attempt
   * may still run, it is then still `cancelling` and nothing was done. Repeated after it was done: `lease-lost`.
   */
  end(lease: Lease, decision: EndDecision): Promise<State>;
}
