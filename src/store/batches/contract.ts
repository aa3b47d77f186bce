import type { ControllerEvent } from '../../core/events.ts';

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
  /** Of one that was taken for verification: how many other processes began to verify it and were not heard of again. */
  deaths?: number;
}

/** Who holds batches, and for how long without another word. */
export interface PendingLease {
  /** Names the process. */
  holder: string;
  leaseMs: number;
}

/** The work of verifying batches: each is held by one process at a time, by a lease. */
export interface PendingStore {
  /**
   * Takes up to `limit` batches that have no report and that no process holds. Taking counts for nothing, so that its
   * answer may be lost.
   */
  takePending(limit: number, lease: PendingLease): Promise<BatchRecord[]>;
  /**
   * Notes that the verification of a batch that was taken begins: if the lease now runs out, the process died in it
   * (`deaths`). False if the batch needs no verification any more.
   */
  beginPending(record: BatchRecord, lease: PendingLease): Promise<boolean>;
  /** Holds batches for another lease. */
  renewPending(records: readonly BatchRecord[], lease: PendingLease): Promise<void>;
  /** Lets go of batches: they can be taken after `restMs`, and that the holder began counts against none of them. */
  returnPending(records: readonly BatchRecord[], options: { holder: string; restMs: number }): Promise<void>;
}

/** Recorded batches and their reports. */
export interface BatchStore extends PendingStore {
  list(id: string): Promise<BatchRecord[]>;
  get(id: string, attempt: number, batch: number): Promise<BatchRecord | undefined>;
  /** The serialized batch, joined from its parts (stream or archive) and checked against its digest. */
  bytes(record: BatchRecord): Promise<Uint8Array>;
  /**
   * Stores the report, its event and the counters, once: a second report of the same batch is ignored ('known'), unless
   * the first one says that the batch is not verifiable and this one does not: then it replaces it, and its event says so.
   */
  report(
    record: BatchRecord,
    event: Extract<ControllerEvent, { type: 'verification' }>,
    report: unknown,
  ): Promise<'stored' | 'replaced' | 'known'>;
  backlog(): Promise<number>;
  /** Batches with their reports in order, behind `after`; `more`: there are more behind them. */
  page(
    id: string,
    page: { after?: { attempt: number; batch: number }; limit: number },
  ): Promise<{ items: BatchRecord[]; more: boolean }>;
}
