import { around } from '../../arithmetic/interval.ts';
import { edgeOf } from './clip.ts';
import { type LossParameters, type PolicyLoss, SIDE } from './loss.ts';

/** Between which ratios the weight is the ratio. */
const edges = ({ clipLow, clipHigh, cap }: LossParameters) => ({
  low: Number.isNaN(clipLow!) ? 0 : 1 - clipLow!,
  high: Number.isNaN(cap!) ? 1 + clipHigh! : cap!,
});

/**
 * CISPO: the clipped ratio is a constant weight of −A·logProb, so that no token loses its gradient. A clamp is continuous:
 * the weight has the ratio's error or the edge's rounding. TRL and ms-swift clamp at epsilon_high itself: `cap`.
 * Source: verl core_algos.py `cispo`, TRL grpo_trainer.py.
 */
export const CISPO: PolicyLoss = {
  name: 'cispo',
  formula: '-stop(clip(r, 1 - clipLow, 1 + clipHigh)) A logProb',
  source:
    'verl cispo; SkyRL cispo (clipLow 1, clipHigh 4); slime; TRL and ms-swift cispo (clipLow null, cap)',
  parameters: {
    clipLow: { fallback: 0.2, means: 'ε₋: the weight is at least 1 − ε₋; null: no lower bound' },
    clipHigh: { fallback: 0.2, means: 'ε₊: the weight is at most 1 + ε₊' },
    cap: { fallback: null, means: 'the weight is at most this, instead of 1 + ε₊', guesses: [null] },
    logRatioClamp: {
      fallback: null,
      means: 'the log-ratio is clamped to ± this before exp',
      guesses: [null, 20],
    },
  },
  edge: (token, params) => edgeOf(token, edges(params)),
  bind(params, { out, arithmetic: { unit } }) {
    const { low, high } = edges(params);
    return (token) => {
      const { advantage, ratio, ratioError, logProb } = token;
      const weight = Math.max(low, Math.min(ratio, high));
      const error = Math.abs(advantage) * (ratioError + 3 * unit * weight);
      around(out.gradient, -weight * advantage, error);
      around(out.loss, -weight * advantage * logProb, error * Math.abs(logProb));
      const isInside = ratio - ratioError > low * (1 + unit) && ratio + ratioError < high * (1 - unit);
      const isOutside = ratio + ratioError < low * (1 - unit) || ratio - ratioError > high * (1 + unit);
      out.side = isInside ? SIDE.none : isOutside ? SIDE.clip : SIDE.undecided;
    };
  },
};
