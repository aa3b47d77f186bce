import type { Aggregation } from './aggregation.ts';

/** The mean over rows of the mean over the tokens of a row. */
export const SEQ_MEAN_TOKEN_MEAN: Aggregation = {
  mode: 'seq-mean-token-mean',
  divisor: 'rows · counted tokens of the row',
  source:
    'verl seq-mean-token-mean; TRL grpo and sapo (scope micro-batch); NeMo-RL sequence level; SkyRL sequence_mean',
  divide: (layout, row, settings) => layout.rowsOf(row, settings) * layout.tokensOfRow(row, settings),
  common: (layout, row, settings) => layout.rowsOf(row, settings),
};
