import { clippedProduct, type Edges, edgeOf } from './clip.ts';
import { type LossParameters, type PolicyLoss, SIDE } from './loss.ts';
import { expErrorAround, rowMean } from './sequence.ts';

/** The edges for A >= 0, and for A < 0. */
const edges = ({ clipLow, clipHigh }: LossParameters): { up: Edges; down: Edges } => ({
  up: { low: Number.NEGATIVE_INFINITY, high: 1 + clipHigh!, above: SIDE.clip },
  down: { low: 1 - clipLow!, high: Number.POSITIVE_INFINITY, above: SIDE.clip },
});

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
    row.ratio = Math.exp(mean);
    row.ratioError = row.ratio * expErrorAround(mean, error, arithmetic);
  },
  edge(token, params) {
    const { up, down } = edges(params);
    return edgeOf(token, token.advantage >= 0 ? up : down);
  },
  bind(params, to) {
    const { up, down } = edges(params);
    return (token) => clippedProduct(token, token.advantage >= 0 ? up : down, to);
  },
};
