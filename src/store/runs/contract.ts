import type { Ended, NumberedEvent } from '../../core/events.ts';
import type { Idempotency } from '../access/answers-contract.ts';
import type { Lease } from '../attempts/contract.ts';

/** The input of a new external run. */
export interface OpenRunInput {
  id: string;
  project: string;
  name: string;
  submitted: unknown;
  resolved: unknown;
  defaults: string[];
  /** The lease token of its client: a new UUID. */
  token: string;
  /** The run ends if its client is silent for this time. */
  silenceMs: number;
  idempotency?: Idempotency;
}

/** A run whose client was silent for too long. Its lease is a new one: the client can write no more. */
export interface SilentRun {
  lease: Lease;
  /** Recorded if only the end of the run's state is missing. */
  ended: Ended | null;
}

/** External runs: experiments that Echelon did not start. The client of a run holds the lease of its only attempt. */
export interface RunStore {
  /**
   * Record, lease and first event in one step, if the queue of its project is open and the project has fewer open runs than
   * it may (`limit-reached`); the experiment is `running`. `token`: of the run that has the id, empty
   * after its end. `created` is false for a repeated idempotency key.
   */
  open(input: OpenRunInput): Promise<{ id: string; token: string; created: boolean }>;
  /**
   * Notes that the client is not silent, before the events that it sends are appended. Throws `lease-lost` if the lease is
   * not that of an open run, `event-conflict` if one of the events is recorded with other content, and `quota-exceeded` if
   * its project would store more bytes than it may; a run whose last event is its end may always end.
   */
  hear(lease: Lease, silenceMs: number, events?: readonly NumberedEvent[]): Promise<void>;
  /**
   * The number of the last recorded event if all of these are recorded; null if one is not, or if there are none. Throws
   * `event-conflict` if one is recorded with other content.
   */
  repeated(run: Omit<Lease, 'token'>, events: readonly NumberedEvent[]): Promise<number | null>;
  /** Takes runs whose clients were silent for too long, or that are being cancelled. Their callers end them. */
  takeSilent(limit: number): Promise<SilentRun[]>;
}
