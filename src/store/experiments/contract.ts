import type { State } from '../../core/states.ts';
import type { Experiment } from '../../schemas/experiment.ts';
import type { Artifact } from '../../schemas/records.ts';
import type { Idempotency } from '../access/answers-contract.ts';
import type { AuditInput } from '../access/contract.ts';

/** The input of a new experiment. */
export interface SubmitInput {
  id: string;
  project: string;
  name: string;
  priority: number;
  cluster: string | null;
  /** Of all its nodes together. */
  gpus: number;
  cpus: number;
  submitted: unknown;
  resolved: unknown;
  defaults: string[];
  fingerprint: string | null;
  /** Whether the spec loads code of the user's own. */
  customCode: boolean;
  idempotency?: Idempotency;
  /** The experiment that it runs again. */
  rerunOf?: string;
  /** Its audit entry, written in the same step if this call creates the experiment. */
  audit?: AuditInput;
}

/** Which experiments a list shows. Times are ms since 1970. */
export interface ExperimentFilter {
  project?: string;
  /** One state, or any of several. */
  state?: State | readonly State[];
  sweep?: string;
  /** Prefix of the id. */
  idPrefix?: string;
  /** Prefix of the name, case-sensitive. */
  namePrefix?: string;
  /** At least one row of this outcome. */
  outcome?: 'wrong' | 'unverifiable' | 'rounding';
  /** Prefix of the fingerprint of the estimator, case-sensitive. */
  fingerprintPrefix?: string;
  /** Submitted at this time or later. */
  submittedFrom?: number;
  /** Submitted before this time. */
  submittedBefore?: number;
}

/** Records that have a revision. */
export type RevisedKind = 'experiment' | 'project' | 'cluster';

/** Revisions: how often users changed a record. */
export interface RevisionStore {
  /**
   * The revision of an experiment (by id), a project or a cluster (by name): a number that only changes by users raise.
   * 0 before the first change, and without such a record. A write that names a revision is refused in its own step, with
   * EchelonError `precondition-failed`, if the record has a higher one.
   */
  get(kind: RevisedKind, name: string): Promise<number>;
}

/** The outcome of a cancel. */
export type CancelOutcome = 'cancelled' | 'cancelling' | 'already-final' | 'not-found';

/** Experiments: their records, lists, versions, artifacts and deletion. */
export interface ExperimentStore {
  /** Record, queue position and first event in one step. `created` is false for a repeated idempotency key. */
  submit(input: SubmitInput): Promise<{ id: string; created: boolean }>;
  get(id: string): Promise<Experiment | undefined>;
  cancel(id: string, reason: string): Promise<CancelOutcome>;
  /** Number of experiments by state: all, or those of a project. */
  counts(project?: string): Promise<Record<State, number>>;
  /**
   * Newest first. One call examines at most 2,500 records, one step of Redis 250; with `idPrefix` 20 times as many. A page
   * may therefore have fewer items than `limit`, or none, and still have a `next`.
   */
  list(
    filter: ExperimentFilter & { limit: number; before?: string },
  ): Promise<{ items: Experiment[]; next: string | null }>;
  /**
   * Removes an experiment that has ended with all its data, in one step; its bytes in the archive are marked for deletion.
   * Counts of its sweep do not change. `not-ended`: nothing was changed. Throws `precondition-failed` if it has another
   * `revision`.
   */
  delete(id: string, revision?: number): Promise<'deleted' | 'not-ended' | 'not-found'>;
  /** Artifacts in the order of their recording, from number `from` (0) on; `more`: further ones exist. */
  artifacts(id: string, from: number, limit: number): Promise<{ items: Artifact[]; more: boolean }>;
  /** Those of the clusters on which a checkpoint was saved to, or read from, a checkpoint directory (`project/name`). */
  checkpointClusters(directory: string, clusters: readonly string[]): Promise<string[]>;
  /**
   * Fails experiments whose deadline passed before a dispatcher acquired an attempt of them. Checks at most `limit`;
   * `more`: others may be due.
   */
  failOverdue(limit: number): Promise<{ failed: string[]; more: boolean }>;
}
