import type { State } from '../../core/states.ts';
import type { Idempotency } from '../access/answers.ts';
import type { AuditInput } from '../access/audit.ts';

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
  /** Name of the caller, for the usage. */
  owner?: string;
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

/** The outcome of a cancel. */
export type CancelOutcome = 'cancelled' | 'cancelling' | 'already-final' | 'not-found';
