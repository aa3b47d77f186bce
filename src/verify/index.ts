/** `echelon/verify`: reads advantage batches, verifies them, explains rows, and estimates them anew. */

export type { Batch, BatchEstimator, BatchProvenance, ObservationDictionary } from './batch.ts';
export { batchFingerprint } from './batch.ts';
export type { BundleHead, BundleOrigin } from './bundle.ts';
export { reportDigest, writeBundle } from './bundle.ts';
export type { Comparison, Difference, Estimate, EstimatorOverrides } from './estimate.ts';
export { compare, estimate } from './estimate.ts';
export type { ExplainedLevel, ExplainedMember, RowExplanation } from './explain.ts';
export { explainRow } from './explain.ts';
export { formatExplanation } from './explain-text.ts';
export type { FindingCode, FindingKind } from './findings.ts';
export { FINDINGS } from './findings.ts';
export type { BatchFormatCode } from './format-error.ts';
export { BatchFormatError } from './format-error.ts';
export type { VerifierPool, VerifierPoolOptions } from './pool.ts';
export { createVerifierPool } from './pool.ts';
export { readBatchFile } from './read.ts';
export { readBatches } from './read-json.ts';
export type {
  BatchReport,
  Diagnosis,
  Finding,
  LevelDiagnosis,
  RowOutcome,
  Severity,
  ZeroReasons,
} from './report.ts';
export { DISPLAY_FLOOR, DISPLAY_TOLERANCE, MAX_LISTED_ROWS } from './report.ts';
export { unverifiedReport, verifyBatch } from './verify-batch.ts';
export { decodeBatch, encodeBatch } from './wire.ts';
