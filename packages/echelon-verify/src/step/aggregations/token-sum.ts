import type { Aggregation } from './aggregation.ts';

/** Σ loss. */
export const TOKEN_SUM: Aggregation = {
  mode: 'token-sum',
  divisor: '1',
  source: 'verl token-sum',
  divide: () => 1,
};
