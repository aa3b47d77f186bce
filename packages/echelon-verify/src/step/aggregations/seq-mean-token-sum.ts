import type { Aggregation } from './aggregation.ts';

/** The mean over rows of the sum over the tokens of a row. */
export const SEQ_MEAN_TOKEN_SUM: Aggregation = {
  mode: 'seq-mean-token-sum',
  divisor: 'rows',
  source: 'verl seq-mean-token-sum; TRL luspo (scope micro-batch)',
  divide: (layout, row, settings) => layout.rowsOf(row, settings),
};
