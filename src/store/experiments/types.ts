import type { PriorityClass } from '../../core/priority-class.ts';
import type { State } from '../../core/states.ts';
import type { Idempotency } from '../access/answers.ts';
import type { AuditInput } from '../access/audit.ts';

/** The input of a new experiment. */
export interface SubmitInput {
  id: string;
  project: string;
  name: string;
  priority: number;
  /** Absent: `normal`. */
  priorityClass?: PriorityClass;
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
  /** Text within the id, the name, the note or a tag; the case of ASCII letters is ignored. */
  search?: string;
  /** One of its tags. */
  tag?: string;
  /** At least one row of this outcome; `wrong`: a wrong training signal. */
  outcome?: 'wrong' | 'unverifiable' | 'rounding';
  /** Prefix of the fingerprint of the estimator, case-sensitive. */
  fingerprintPrefix?: string;
  /** Submitted at this time or later. */
  submittedFrom?: number;
  /** Submitted before this time. */
  submittedBefore?: number;
}

/** An order of a list. `active`: by state, active ones first; within a state newest first. Others have values. */
export interface ExperimentOrder {
  by: 'submitted' | 'active' | keyof typeof SORT_FIELDS | `metric:${string}`;
  /** The largest value first. */
  isDescending: boolean;
}

/** The stored fields of a value by which lists are sorted: a text, a number, or numbers that make one. */
export const SORT_FIELDS = {
  name: ['name'],
  project: ['project'],
  owner: ['owner'],
  cluster: ['cluster'],
  sweep: ['sweep'],
  started: ['startedAt'],
  ended: ['endedAt'],
  duration: ['startedAt', 'endedAt'],
  progress: ['step', 'steps'],
  gpus: ['gpus'],
  priority: ['priority'],
  wrong: ['vWrong', 'vErrors', 'vUnreadable'],
} as const;

/** The outcome of a cancel. */
export type CancelOutcome = 'cancelled' | 'cancelling' | 'already-final' | 'not-found';
