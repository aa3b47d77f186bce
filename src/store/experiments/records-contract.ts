import type { State } from '../../core/states.ts';
import type { Experiment } from '../../schemas/experiment.ts';
import type { Artifact } from '../../schemas/records.ts';
import type { BatchRecord } from '../batches/contract.ts';

/**
 * A request's Idempotency-Key, and the digest of the canonical request: the same key of the same caller with another
 * digest is `idempotency-conflict`. Without a caller all share one set of keys, as before callers were told apart.
 */
export interface Idempotency {
  key: string;
  digest: string;
  caller?: { id: string; project: string | null };
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

/** An answer that is kept for whoever repeats its request. */
export interface KeptAnswer {
  status: number;
  /** Of those headers that a repetition must be told. */
  headers: Record<string, string>;
  body: string;
  /** It held a secret: only that there was an answer is kept. */
  withheld?: true;
}

/** What a request that carries an Idempotency-Key is: the first one, or which repetition. */
export type AnswerClaim =
  | { outcome: 'claimed'; token: string }
  /** It was answered before. */
  | { outcome: 'kept'; answer: KeptAnswer }
  /** The first one is being carried out. */
  | { outcome: 'running' }
  /** The key was used with another request. */
  | { outcome: 'conflict' }
  /** The store is nearly full, and nothing more is kept. */
  | { outcome: 'full' };

/** Records that have a version. */
export type VersionedKind = 'experiment' | 'project' | 'cluster';

/** Records beyond their lives in the line: lists, versions, deletion, artifacts, pages of batches, kept answers. */
export interface RecordsStore {
  /**
   * Newest first. At most 2,500 records are looked at in one call, 250 in one step of Redis, with `idPrefix` 20 times as many: a page may hold fewer than
   * `limit`, or none, and still have a `next`.
   */
  list(
    filter: ExperimentFilter & { limit: number; before?: string },
  ): Promise<{ items: Experiment[]; next: string | null }>;

  /**
   * The version of an experiment (by id), project or cluster (by name): another one after every change that a person
   * decides, and the same after all others: of a state, a place in the queue, what a ray-worker reports. There is one also
   * where there is no such record. A write that is told it is refused in its own step, with EchelonError
   * `precondition-failed`, where the record has another by then.
   */
  recordVersion(kind: VersionedKind, name: string): Promise<string>;

  /**
   * Removes one that has ended, with everything that was recorded of it, in one step; its bytes in the archive are
   * marked for collection. Counts of its sweep stay. `not-ended`: nothing was changed. Throws `precondition-failed`
   * where it has another `version`.
   */
  deleteExperiment(id: string, version?: string): Promise<'deleted' | 'not-ended' | 'not-found'>;

  /** Artifacts in the order of their recording, from number `from` (0) on; `more`: there are more behind them. */
  artifacts(id: string, from: number, limit: number): Promise<{ items: Artifact[]; more: boolean }>;

  /** Batches with their reports in order, behind `after`; `more`: there are more behind them. */
  batchPage(
    id: string,
    page: { after?: { attempt: number; batch: number }; limit: number },
  ): Promise<{ items: BatchRecord[]; more: boolean }>;

  /**
   * Claims the right to answer a request. `name` stands for caller and key, `digest` for the request. Without an end
   * the claim is given up after `leaseMs`.
   */
  claimAnswer(input: { name: string; digest: string; leaseMs: number }): Promise<AnswerClaim>;
  /** Keeps the answer for `keepMs`; passed over where the claim is lost. */
  keepAnswer(input: {
    name: string;
    token: string;
    /** Whose oldest answers go when there are too many. */
    caller: string;
    answer: KeptAnswer;
    keepMs: number;
  }): Promise<void>;
  /** Gives the claim up: the next request with the key is the first one again. */
  dropAnswer(input: { name: string; token: string }): Promise<void>;
}
