/** `echelon-verify/format`: batches and steps, and the formats in which they are stored. */

export type { Batch } from './format/batch.ts';
export type { BundleOrigin } from './format/bundle.ts';
export { BatchFormatError } from './format/format-error.ts';
