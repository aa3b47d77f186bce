import type { Aggregation } from './aggregation.ts';

/** The token mean of each micro-batch, weighted with its share of the rows. It depends on how rows are split. */
export const TOKEN_MEAN_BY_ROWS: Aggregation = {
  mode: 'token-mean-by-rows',
  divisor: 'counted tokens of the micro-batch · all rows / rows of the micro-batch',
  source: 'verl-agent and verl legacy with dynamic batch size',
  divide: (layout, row, settings) => {
    const microBatch = layout.microBatchOf(row);
    const tokens = layout.tokensOf(row, { ...settings, scope: 'micro-batch' });
    return (
      (tokens * layout.rowsOf(row, { ...settings, scope: 'global' })) / layout.rowsOfMicroBatch(microBatch)
    );
  },
};
