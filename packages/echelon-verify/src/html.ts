/** `echelon-verify/html`: the contents of a report in one HTML file. */

export type { ReportHead } from './html/contents.ts';
export { batchId, HEAD_ID } from './html/contents.ts';
export { unpackBatch } from './html/pack-batch.ts';
