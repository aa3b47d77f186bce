/** `echelon-verify`: reads advantage batches, verifies them, explains rows, and estimates them anew. */

export type { DumpAdapter, DumpOptions, DumpStep, Mapping } from './dumps/adapter.ts';
export { ADAPTERS, adapterFor, adapterOf } from './dumps/registry.ts';
export type { ExplainedLevel, ExplainedMember, RowExplanation } from './explain/explain.ts';
export { explainRow } from './explain/explain.ts';
export { formatExplanation } from './explain/explain-text.ts';
export type { Batch, BatchEstimator, BatchProvenance, ObservationDictionary } from './format/batch.ts';
export { batchFingerprint } from './format/batch.ts';
export { decodeBatch, encodeBatch } from './format/batch-wire.ts';
export type { BundleHead, BundleOrigin } from './format/bundle.ts';
export { reportDigest, writeBundle } from './format/bundle.ts';
export type { BatchFormatCode } from './format/format-error.ts';
export { BatchFormatError } from './format/format-error.ts';
export { readBatchFile } from './format/read.ts';
export { readBatches } from './format/read-batch.ts';
export type { Comparison, Difference, Estimate, EstimatorOverrides } from './identify/estimate.ts';
export { compare, estimate } from './identify/estimate.ts';
export type { KnownForm } from './identify/fingerprints.ts';
export { KNOWN_FORMS } from './identify/fingerprints.ts';
export type { Candidate, Identification } from './identify/identify.ts';
export { identify, identifyBlocks, summaryOf } from './identify/identify.ts';
export type { VerifierPool, VerifierPoolOptions } from './pool/pool.ts';
export { createVerifierPool } from './pool/pool.ts';
export type { FindingCode, FindingKind } from './report/findings.ts';
export { FINDINGS } from './report/findings.ts';
export type {
  BatchReport,
  Diagnosis,
  Finding,
  LevelDiagnosis,
  RowOutcome,
  Severity,
  ZeroReasons,
} from './report/report.ts';
export { DISPLAY_FLOOR, DISPLAY_TOLERANCE, MAX_LISTED_ROWS } from './report/report.ts';
export type { SignalHealth } from './verify/signal.ts';
export { unverifiedReport, verifyBatch } from './verify/verify-batch.ts';
export type { Configuration, DumpReport, StatedDump } from './verify/verify-dump.ts';
export { verifyDump } from './verify/verify-dump.ts';
