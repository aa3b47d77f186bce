import type { State } from '../../core/states.ts';
import type { Experiment } from '../../schemas/experiment.ts';
import type { Artifact } from '../../schemas/records.ts';
import type { Idempotency } from '../access/answers-contract.ts';
import type { AuditInput } from '../access/contract.ts';

/** What an experiment is made from. */
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
  /** Its entry of the audit log, written in the same step where this call makes the experiment. */
  audit?: AuditInput;
}

/** Which experiments a list shows. Times are ms since 1970. */
export interface ExperimentFilter {
  project?: string;
  /** One state, or any of several. */
  state?: State | readonly State[];
  sweep?: string;
  /** What the id begins with. */
  idPrefix?: string;
  /** What the name begins with, to the letter. */
  namePrefix?: string;
  /** Submitted at this time or later. */
  submittedFrom?: number;
  /** Submitted before this time. */
  submittedBefore?: number;
}

/** Records that have a revision. */
export type RevisedKind = 'experiment' | 'project' | 'cluster';

/** How often people changed a record. */
export interface RevisionStore {
  /**
   * The revision of an experiment (by id), a project or a cluster (by name): a number that rises with each decision of a
   * person about it, and with nothing else. 0 before the first decision, and without such a record. A write that is told
   * the revision is refused in its own step, with EchelonError `precondition-failed`, if the record has a higher one.
   */
  get(kind: RevisedKind, name: string): Promise<number>;
}

/** What a cancel led to. */
export type CancelOutcome = 'cancelled' | 'cancelling' | 'already-final' | 'not-found';

/** Experiments: their records, lists, versions, artifacts and deletion. */
export interface ExperimentStore {
  /** Record, place in the line and first event in one step. `created` is false for a repeated idempotency key. */
  submit(input: SubmitInput): Promise<{ id: string; created: boolean }>;
  get(id: string): Promise<Experiment | undefined>;
  cancel(id: string, reason: string): Promise<CancelOutcome>;
  /** Experiments by state: all, or those of a project. */
  counts(project?: string): Promise<Record<State, number>>;
  /**
   * Newest first. At most 2,500 records are looked at in one call, 250 in one step of Redis, with `idPrefix` 20 times as many: a page may hold fewer than
   * `limit`, or none, and still have a `next`.
   */
  list(
    filter: ExperimentFilter & { limit: number; before?: string },
  ): Promise<{ items: Experiment[]; next: string | null }>;
  /**
   * Removes one that has ended, with everything that was recorded of it, in one step; its bytes in the archive are
   * marked for collection. Counts of its sweep stay. `not-ended`: nothing was changed. Throws `precondition-failed`
   * if it has another `revision`.
   */
  delete(id: string, revision?: number): Promise<'deleted' | 'not-ended' | 'not-found'>;
  /** Artifacts in the order of their recording, from number `from` (0) on; `more`: there are more behind them. */
  artifacts(id: string, from: number, limit: number): Promise<{ items: Artifact[]; more: boolean }>;
  /**
   * Fails experiments whose deadline passed before a dispatcher acquired an attempt of them. Checks at most `limit`;
   * `more`: others may be due.
   */
  failOverdue(limit: number): Promise<{ failed: string[]; more: boolean }>;
}
