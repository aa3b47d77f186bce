/** `echelon-verify/explain`: explanations of rows and tokens. */

export type { ExplainedLevel, GoalGraph, RowExplanation } from './explain/explain.ts';
export { explainRow } from './explain/explain.ts';
export type { TokenExplanation } from './explain/explain-step.ts';
export { formatExplanation } from './explain/explain-text.ts';
export type { RowQuery } from './explain/row-columns.ts';
export { rowColumns } from './explain/row-columns.ts';
export { formatToken } from './explain/step-text.ts';
