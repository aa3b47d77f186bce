/** `echelon-verify/verify`: verification of batches, dumps and steps. */

export type { RecordedStepReport } from './verify/recorded-step.ts';
export type { TokenColumns } from './verify/token-columns.ts';
export type { StatedDump } from './verify/verify-dump.ts';
