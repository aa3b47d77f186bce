import type { ControllerEvent, Ended, NumberedEvent, StreamEntry } from '../core/events.ts';
import type { State } from '../core/states.ts';
import type { Command, CommandKind, CommandProblem, PreflightFinding } from '../schemas/clusters.ts';
import type { Experiment } from '../schemas/experiment.ts';
import type { AccessStore } from './access-store.ts';
import type { FeedStore } from './feed-store.ts';
import type { Crash, LimitsStore } from './limits-store.ts';
import type { LogStore } from './log-store.ts';
import type { QueueStore, StartEstimate } from './queue-store.ts';
import type { Idempotency, RecordsStore } from './records-store.ts';
import type { RetentionStore } from './retention-store.ts';
import type { RulesStore } from './rules-store.ts';
import type { SeriesStore } from './series-store.ts';
import type { SweepStore } from './sweep-store.ts';

/*
 * What always holds:
 * - a state and its event are written in one step, along TRANSITIONS, and by the holder of the lease where one is held;
 * - attempt numbers of an experiment only rise, by one at a time; further only where a cluster knows higher ones;
 * - event n of an attempt is recorded once, after n - 1;
 * - lease expiry is judged by the server's clock (Redis TIME) and nothing else.
 */

/** The right to write for an attempt. */
export interface Lease {
  experiment: string;
  attempt: number;
  token: string;
}

/** A cluster as the store knows it. `token` and `ca` never leave through the API. */
export interface Cluster {
  name: string;
  /** host:port of the ray-worker. */
  address: string;
  token: string;
  /** PEM of the authority that signed the ray-worker's certificate; null: no TLS. */
  ca: string | null;
  backfill: boolean;
  /** Generation of the ray-worker's state directory, as last seen. */
  generation: string | null;
  lastSeenAt: number | null;
  nodes: ClusterNode[];
  /** As last seen; absent: not yet. */
  rayVersion?: string;
  rayWorkerVersion?: string;
  sharedRoot?: string;
  /** The Ray that it was added from; absent: it was made known by the ray-worker's address. */
  ray?: RayPlace;
  /** Nothing new starts there. Set by `setDraining` alone. */
  draining?: boolean;
  /** What experiments choose it by. Set by `setCluster` alone. */
  labels?: Readonly<Record<string, string>>;
}

/** A Ray cluster, and how its ray-worker is to run there. `token` and `tls` never leave through the API. */
export interface RayPlace {
  /** ray://host:port */
  address: string;
  token: string | null;
  /** PEM; null: no TLS. */
  tls: { ca?: string; cert?: string; key?: string; serverName?: string } | null;
  /** A directory that all nodes see. */
  sharedRoot: string;
  /** Id, address or host name of the ray-worker's node; null: Ray's head. */
  node: string | null;
  /** null: a free one. */
  port: number | null;
  /** host:port by which the ray-worker is reached; null: the node's own. */
  advertise: string | null;
}

/** What a ray-worker said of its cluster. */
export type Seen = Pick<Cluster, 'address' | 'nodes' | 'rayVersion' | 'rayWorkerVersion' | 'sharedRoot'> & {
  generation: string;
  lastSeenAt: number;
};

/** What a command is made from. */
export interface CommandInput {
  id: string;
  cluster: string;
  kind: CommandKind;
  /** Kept with the record, and handed to whoever carries it out. */
  request: unknown;
  /** Handed to whoever carries it out, deleted when it is over, and shown to nobody. */
  secret: string | null;
  /** Whose it is, where it is a project's thing. */
  project?: string;
}

/** The right to carry out a command. */
export interface CommandLease {
  id: string;
  cluster: string;
  token: string;
}

/** A command in our hands. `tries` counts the claims, this one included. */
export interface ClaimedCommand {
  lease: CommandLease;
  kind: CommandKind;
  request: unknown;
  secret: string | null;
  tries: number;
}

/** A node's capacity: total, and what Ray itself counts as used. */
export interface ClusterNode {
  id: string;
  cpusTotal: number;
  gpusTotal: number;
  cpusUsed: number;
  gpusUsed: number;
}

/** What an experiment holds of a cluster, on which node. */
export interface Reservation {
  experiment: string;
  node: string;
  gpus: number;
  cpus: number;
  /** Whose quota it counts against; absent in reservations that were made before there were projects. */
  project?: string;
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

/** One attempt's own record. */
export interface Attempt {
  attempt: number;
  cluster: string;
  claimedAt: number;
  /** Set once Launch was answered by the ray-worker. */
  confirmedAt: number | null;
  lastSequence: number;
  ended: Ended | null;
}

/** A batch that an attempt has completely recorded. */
export interface BatchRecord {
  experiment: string;
  attempt: number;
  batch: number;
  step: number;
  rows: number;
  digest: string;
  /** Stream id of its first and last part. */
  firstEntry: string;
  lastEntry: string;
  /** The stored report, where there is one (JSON of the verifier's BatchReport). */
  report: unknown;
  /** Of one that was taken for verification: how often it was, this time included. */
  taken?: number;
}

export interface SubmitInput {
  id: string;
  project: string;
  name: string;
  priority: number;
  cluster: string | null;
  gpus: number;
  cpus: number;
  submitted: unknown;
  resolved: unknown;
  defaults: string[];
  fingerprint: string | null;
  idempotency?: Idempotency;
  /** The experiment that it runs again. */
  rerunOf?: string;
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

export type CancelOutcome = 'cancelled' | 'cancelling' | 'already-final' | 'not-found';

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
  /** Crashes in a row that it may have caused; empty where it is known to have caused none. */
  crashes: Crash[];
}

export interface Store
  extends SweepStore,
    QueueStore,
    AccessStore,
    RetentionStore,
    RecordsStore,
    SeriesStore,
    LimitsStore,
    FeedStore,
    LogStore,
    RulesStore {
  /** Checks persistence settings; throws EchelonError `store-unfit` naming each missing setting and its mend. */
  checkFitness(): Promise<void>;
  /** Used and maximal memory (0: none), and whether new work is accepted. */
  pressure(): Promise<{ usedBytes: number; maxBytes: number; accepting: boolean }>;

  // --- experiments
  /** Record, place in the line and first event in one step. `created` is false for a repeated idempotency key. */
  submit(input: SubmitInput): Promise<{ id: string; created: boolean }>;
  get(id: string): Promise<Experiment | undefined>;
  cancel(id: string, reason: string): Promise<CancelOutcome>;
  attempts(id: string): Promise<Attempt[]>;

  // --- the line
  waiting(limit: number): Promise<Waiting[]>;
  /** Number in the line, and this experiment's rank from 1 (null where it does not wait). */
  position(id: string): Promise<{ rank: number | null; length: number }>;
  /** Experiments by state: all, or those of a project. */
  counts(project?: string): Promise<Record<State, number>>;

  // --- clusters and reservations
  putCluster(cluster: Cluster): Promise<void>;
  /** Records what a cluster's ray-worker said; passed over where the cluster is gone or has moved since. */
  seeCluster(name: string, seen: Seen): Promise<void>;
  clusters(): Promise<Cluster[]>;
  /** Stops or allows new starts: a claim that was decided before is refused. False: there is no such cluster. */
  setDraining(name: string, draining: boolean): Promise<boolean>;
  /** `busy`: something is reserved there, and nothing was changed. */
  removeCluster(name: string): Promise<'removed' | 'absent' | 'busy'>;
  /** Reservations on a cluster and their version; a claim against an older version is refused. */
  reservations(cluster: string): Promise<{ version: number; items: Reservation[] }>;

  // --- commands: one at a time for each cluster, in the order in which they came
  createCommand(input: CommandInput): Promise<void>;
  command(id: string): Promise<Command | undefined>;
  /** Of a preflight of a spec; undefined where the command belongs to no project, or there is none. */
  commandProject(id: string): Promise<string | undefined>;
  /** Those that are not over, oldest first. */
  openCommands(): Promise<{ id: string; cluster: string }[]>;
  /** `busy`: another dispatcher has it, or an earlier one of the cluster is not over. `over`: final, or unknown. */
  claimCommand(input: {
    id: string;
    dispatcher: string;
    leaseMs: number;
  }): Promise<{ outcome: 'claimed'; claimed: ClaimedCommand } | { outcome: 'busy' | 'over' }>;
  /** False: another holds it, or it is over. `leaseMs` 0 lets it go: another takes it at once. */
  renewCommand(lease: CommandLease, leaseMs: number): Promise<boolean>;
  /** Adds a line to its report; false where the lease is lost. */
  reportCommand(lease: CommandLease, line: string): Promise<boolean>;
  /** Its end, once; false where the lease is lost. */
  endCommand(
    lease: CommandLease,
    end: {
      state: 'succeeded' | 'failed';
      problems: readonly CommandProblem[];
      findings?: readonly PreflightFinding[];
    },
  ): Promise<boolean>;

  // --- claims and leases
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
  }): Promise<{ outcome: 'claimed'; lease: Lease } | { outcome: 'not-waiting' } | { outcome: 'changed' }>;
  /** Records that Launch was answered; launching → running (a cancelling one stays so). Returns the state. */
  confirm(lease: Lease): Promise<State>;
  renew(leases: readonly Lease[], leaseMs: number): Promise<Renewal[]>;
  takeOver(input: { dispatcher: string; leaseMs: number; limit: number }): Promise<TakenOver[]>;
  /** How many leases there are, and how many of them ran out without anybody taking the attempt over yet. */
  leases(): Promise<{ held: number; expired: number }>;
  /** Lets leases expire now, so that another dispatcher takes over at once. */
  release(leases: readonly Lease[]): Promise<void>;

  // --- events
  /**
   * Appends events in order. Those already recorded are passed over; a gap throws `sequence-gap`, a stale lease
   * `lease-lost`. Returns the last recorded sequence number. Completed batches become pending verification.
   */
  append(lease: Lease, events: readonly NumberedEvent[]): Promise<number>;
  /**
   * The attempt's end: final state or back into the line; gives back lease and reservation. To be called only when
   * the attempt's driver cannot run any more: its exit is recorded, or the attempt is fenced. Returns the recorded
   * state: `cancelled`, whatever was decided, where a cancel came first; with `attemptsAbove`, where another attempt
   * may still run, it is then still `cancelling` and nothing was done. Repeated after it was done: `lease-lost`.
   */
  end(lease: Lease, decision: EndDecision): Promise<State>;
  /** Entries after `after` (exclusive; undefined: from the start), at most `limit`, in order. */
  read(id: string, after: string | undefined, limit: number): Promise<StreamEntry[]>;
  /** The newest entries, in order. */
  tail(id: string, limit: number): Promise<StreamEntry[]>;
  /**
   * Yields entries after `after` as they arise, until `signal` aborts, the store closes, or nothing can come any
   * more: the experiment is final, each of its batches has its report, its rules have looked at them, and all was
   * sent. Throws `not-found`; rides
   * out a restart of the server once it has begun.
   */
  follow(id: string, after: string | undefined, signal: AbortSignal): AsyncIterable<StreamEntry>;

  // --- batches and reports
  batches(id: string): Promise<BatchRecord[]>;
  batch(id: string, attempt: number, batch: number): Promise<BatchRecord | undefined>;
  /** The serialized batch, joined from its parts (stream or archive) and checked against its digest. */
  batchBytes(record: BatchRecord): Promise<Uint8Array>;
  /** Takes up to `limit` batches that have no report and nobody works on; they come back after `leaseMs` without one. */
  takePending(limit: number, leaseMs: number): Promise<BatchRecord[]>;
  /** Lets go of a batch that was taken: it can be taken at once, and this time does not count. */
  giveBack(record: BatchRecord): Promise<void>;
  /** Stores the report, its event and the counters, once; a second report of the same batch is passed over. */
  report(
    record: BatchRecord,
    event: Extract<ControllerEvent, { type: 'verification' }>,
    report: unknown,
  ): Promise<boolean>;
  backlog(): Promise<number>;

  // --- wake-ups: hints only, nothing depends on one arriving
  wake(topic: WakeTopic): Promise<void>;
  onWake(listener: (topic: WakeTopic) => void): Promise<() => Promise<void>>;

  /** Experiments that wait but are missing among `known` job ids: what the reconciler must add again. */
  waitingIds(limit: number): Promise<string[]>;

  close(): Promise<void>;
}

/**
 * `line`: the line or the capacity changed. `cancel`: an experiment became cancelling. `batch`: a batch is pending.
 * `command`: a command waits. `sweep`: a sweep has children to expand or to cancel.
 */
export type WakeTopic = 'line' | 'cancel' | 'batch' | 'command' | 'sweep';

/**
 * Keeps bytes outside Redis: by their SHA-256, for one owner (an experiment). Owners share nothing, so that whatever an
 * owner has can be deleted when it goes. Throws EchelonError `store-unavailable` where it does not answer.
 */
export interface Archive {
  /** May be repeated; what is there already is not written again. */
  put(owner: string, digest: string, bytes: Uint8Array): Promise<void>;
  /** Throws EchelonError `not-found`, also where what is there does not have the digest. */
  get(owner: string, digest: string): Promise<Uint8Array>;
  /** Deletes everything of the owner but `except`. May be repeated. */
  remove(owner: string, except?: ReadonlySet<string>): Promise<void>;
}
