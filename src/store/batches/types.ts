import type { StoredReport } from './stored-report.ts';

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
  /** The verifier's report, or null. */
  report: StoredReport | null;
  /** For a batch taken for verification: number of other processes that began to verify it and never finished. */
  deaths?: number;
}

/** A lease of batches. */
export interface PendingLease {
  /** Names the process. */
  holder: string;
  leaseMs: number;
}
