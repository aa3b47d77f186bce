import type { ControllerEvent } from '../core/events.ts';

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
  /** GPU milliseconds since the attempt's batch before it, or its launch; 0 in records of 0.1.0. */
  gpuMs: number;
  /** The stored report, where there is one (JSON of the verifier's BatchReport). */
  report: unknown;
  /** Of one that was taken for verification: how often it was, this time included. */
  taken?: number;
}

/** Recorded batches and their reports. */
export interface BatchStore {
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
}
