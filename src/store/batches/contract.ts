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
  /** The stored report (JSON of the verifier's BatchReport), or null. */
  report: unknown;
  /** For a batch taken for verification: number of other processes that began to verify it and never finished. */
  deaths?: number;
}

/** A lease of batches. */
export interface PendingLease {
  /** Names the process. */
  holder: string;
  leaseMs: number;
}

/** The work of verifying batches: one process at a time has the lease of a batch. */
export interface PendingStore {
  /**
   * Takes up to `limit` batches that have no report and no valid lease. Taking does not count as a start, because its answer
   * may be lost.
   */
  takePending(limit: number, lease: PendingLease): Promise<BatchRecord[]>;
  /**
   * Records that the verification of a batch begins: if the lease now expires, the process died of it (`deaths`). False if
   * the batch needs no verification any more.
   */
  beginPending(record: BatchRecord, lease: PendingLease): Promise<boolean>;
  /** Renews the lease of batches. */
  renewPending(records: readonly BatchRecord[], lease: PendingLease): Promise<void>;
  /** Releases batches: they can be taken after `restMs`, and the start of their verification no longer counts. */
  returnPending(records: readonly BatchRecord[], options: { holder: string; restMs: number }): Promise<void>;
}

/** Recorded batches and their reports. */
export interface BatchStore extends PendingStore {
  list(id: string): Promise<BatchRecord[]>;
  get(id: string, attempt: number, batch: number): Promise<BatchRecord | undefined>;
  /** The serialized batch, joined from its parts (stream or archive) and checked against its digest. */
  bytes(record: BatchRecord): Promise<Uint8Array>;
  /**
   * Stores the report, its event and the counters, once. A second report of the same batch is ignored ('known'). Exception:
   * it replaces a first report of `not-verifiable`, and its event says so.
   */
  report(
    record: BatchRecord,
    event: Extract<ControllerEvent, { type: 'verification' }>,
    report: unknown,
  ): Promise<'stored' | 'replaced' | 'known'>;
  /** Has the batches verified again whose reports say `not-verifiable`; returns their number. */
  verifyAgain(id: string): Promise<number>;
  backlog(): Promise<number>;
  /** Batches with their reports in order, after `after`; `more`: further ones exist. */
  page(
    id: string,
    page: { after?: { attempt: number; batch: number }; limit: number },
  ): Promise<{ items: BatchRecord[]; more: boolean }>;
}
