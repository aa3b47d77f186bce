import type { Aggregation } from './aggregation.ts';

/** Σ loss / N, N the counted tokens of the scope. */
export const TOKEN_MEAN: Aggregation = {
  mode: 'token-mean',
  divisor: 'counted tokens',
  source: 'verl and SkyRL token-mean; NeMo-RL token level; prime-rl; TRL bnpo (scope micro-batch)',
  divide: (layout, row, settings) => layout.tokensOf(row, settings),
};
