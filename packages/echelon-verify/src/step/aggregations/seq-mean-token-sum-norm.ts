import type { Aggregation } from './aggregation.ts';

/** seq-mean-token-sum ÷ a constant; without one, ÷ the padded width of the row's own micro-batch. */
export const SEQ_MEAN_TOKEN_SUM_NORM: Aggregation = {
  mode: 'seq-mean-token-sum-norm',
  divisor: 'rows · `scaleFactor` (omitted: the width of the micro-batch)',
  source: 'verl and SkyRL seq-mean-token-sum-norm; TRL dr_grpo',
  needs: ({ scaleFactor }, { hasWidths }) =>
    scaleFactor === undefined && !hasWidths ? ['scaleFactor', 'microBatches[].width'] : [],
  divide: (layout, row, settings) =>
    layout.rowsOf(row, settings) * (settings.scaleFactor ?? layout.widthOf(row)),
  common: (layout, row, settings) => layout.rowsOf(row, settings),
};
