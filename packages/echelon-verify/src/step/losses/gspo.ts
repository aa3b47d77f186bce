import { inRange } from '../../arithmetic/interval.ts';
import { clippedProduct, edgeOf, edgesOf } from './clip.ts';
import type { PolicyLoss } from './loss.ts';
import { expErrorAround, rowMean } from './sequence.ts';

/**
 * GSPO: PPO clip with one ratio per row, s = exp(mean over the row of logProb − oldLogProb). verl carries the gradient by a
 * stop-gradient form, TRL by the mean itself: both give −A·s to each token as long as the row has one advantage and one
 * denominator. Source: verl core_algos.py `gspo`, TRL `importance_sampling_level="sequence"`.
 */
export const GSPO: PolicyLoss = {
  name: 'gspo',
  formula: 'max(-A s, -A clip(s, 1 - clipLow, 1 + clipHigh)), s = exp(mean of the log-ratios of the row)',
  source: 'verl gspo; TRL importance_sampling_level="sequence"; NeMo-RL, slime, SkyRL, AReaL',
  parameters: {
    clipLow: { fallback: 0.2, means: 'ε₋: s is clipped below 1 − ε₋' },
    clipHigh: { fallback: 0.2, means: 'ε₊: s is clipped above 1 + ε₊' },
  },
  hasRowRatio: true,
  row(tokens, _params, { row, arithmetic }) {
    const { logProb, oldLogProb } = tokens;
    const logRatio = (token: number) => logProb[token]! - oldLogProb[token]!;
    const { mean, error } = rowMean(tokens, logRatio, 1, arithmetic);
    const ratio = Math.exp(mean);
    [row.ratio, row.ratioError] = inRange(ratio, ratio * expErrorAround(mean, error, arithmetic));
  },
  measure: ({ ratio }) => ratio - 1,
  edge(token, params) {
    const { up, down } = edgesOf(params);
    return edgeOf(token, token.advantage >= 0 ? up : down);
  },
  bind(params, to) {
    const { up, down } = edgesOf(params);
    return (token) => clippedProduct(token, token.advantage >= 0 ? up : down, to);
  },
};
