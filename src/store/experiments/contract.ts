import type { Ended } from '../../core/events.ts';
import type { State } from '../../core/states.ts';
import type { Experiment } from '../../schemas/experiment.ts';
import type { AuditInput } from '../access/contract.ts';
import type { Idempotency } from './records-contract.ts';

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

/** What a cancel led to. */
export type CancelOutcome = 'cancelled' | 'cancelling' | 'already-final' | 'not-found';

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

/** Experiments and their attempts. */
export interface ExperimentStore {
  /** Record, place in the line and first event in one step. `created` is false for a repeated idempotency key. */
  submit(input: SubmitInput): Promise<{ id: string; created: boolean }>;
  get(id: string): Promise<Experiment | undefined>;
  cancel(id: string, reason: string): Promise<CancelOutcome>;
  attempts(id: string): Promise<Attempt[]>;
  /** Experiments by state: all, or those of a project. */
  counts(project?: string): Promise<Record<State, number>>;
}
