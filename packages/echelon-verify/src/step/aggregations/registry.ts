import type { Aggregation } from './aggregation.ts';
import { CONSTANT } from './constant.ts';
import { PROMPT_MEAN } from './prompt-mean.ts';
import { SEQ_MEAN_TOKEN_MEAN } from './seq-mean-token-mean.ts';
import { SEQ_MEAN_TOKEN_SUM } from './seq-mean-token-sum.ts';
import { SEQ_MEAN_TOKEN_SUM_NORM } from './seq-mean-token-sum-norm.ts';
import { TOKEN_MEAN } from './token-mean.ts';
import { TOKEN_MEAN_BY_ROWS } from './token-mean-by-rows.ts';
import { TOKEN_SUM } from './token-sum.ts';

/** Every mode of aggregation. */
export const AGGREGATIONS: readonly Aggregation[] = [
  TOKEN_MEAN,
  SEQ_MEAN_TOKEN_MEAN,
  SEQ_MEAN_TOKEN_SUM,
  SEQ_MEAN_TOKEN_SUM_NORM,
  TOKEN_SUM,
  TOKEN_MEAN_BY_ROWS,
  PROMPT_MEAN,
  CONSTANT,
];

/** The mode with a name; undefined if there is none. */
export function aggregationOf(mode: string): Aggregation | undefined {
  return AGGREGATIONS.find((one) => one.mode === mode);
}
