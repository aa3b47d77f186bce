import { around, exactly, include } from '../../arithmetic/interval.ts';
import { type PolicyLoss, SIDE, type TokenState } from './loss.ts';
import { edgeOfMove, sideOfMove } from './probability-move.ts';

/**
 * DPPO with the total-variation test: −A·stop(min(r, cap))·logProb, dropped if the probability has moved too far in the
 * direction of the advantage. Source: verl core_algos.py `dppo_tv`.
 */
export const DPPO: PolicyLoss = {
  name: 'dppo-tv',
  formula:
    '-A stop(min(r, cap)) logProb; 0 if A > 0 and p - pOld > clipHigh, or A <= 0 and p - pOld < -clipLow',
  source: 'verl dppo_tv (the YAML states clip_ratio_c 3); SkyRL dppo',
  parameters: {
    clipLow: { fallback: 0.2, means: 'largest fall of the probability' },
    clipHigh: { fallback: 0.2, means: 'largest rise of the probability' },
    cap: { fallback: 20, means: 'upper bound of the ratio; null: none', guesses: [null] },
    logRatioClamp: {
      fallback: 20,
      means: 'the log-ratio is clamped to ± this before exp',
      guesses: [null, 20],
    },
  },
  lowerSide: 'capped',
  measure: ({ logProb, oldLogProb }) => Math.exp(logProb) - Math.exp(oldLogProb),
  edge(token, params) {
    const { ratio } = token;
    return ratio > params.cap!
      ? { of: 'ratio', value: ratio, limit: params.cap! }
      : edgeOfMove(token, params);
  },
  bind({ clipLow, clipHigh, cap }, { out, arithmetic }) {
    return (token) => {
      const { advantage, ratio, ratioError, logProb } = token;
      const { unit } = arithmetic;
      const weight = Number.isNaN(cap!) ? ratio : Math.min(ratio, cap!);
      const error = Math.abs(advantage) * (ratioError + 4 * unit * weight);
      const moved = sideOfMove(token, { clipLow: clipLow!, clipHigh: clipHigh! }, arithmetic);
      out.side = moved === SIDE.none ? sideOfCap(token, cap!, unit) : moved;
      if (moved === SIDE.clip) {
        exactly(out.gradient, 0);
        exactly(out.loss, 0);
        return;
      }
      around(out.gradient, -weight * advantage, error);
      around(out.loss, -weight * advantage * logProb, error * Math.abs(logProb));
      if (moved === SIDE.none) return;
      include(out.gradient, 0);
      include(out.loss, 0);
    };
  },
};

/** A token beyond the cap keeps its gradient; the lower clip fraction counts it. */
function sideOfCap({ ratio, ratioError }: TokenState, cap: number, unit: number): number {
  if (ratio - ratioError > cap * (1 + unit)) return SIDE.lower;
  return ratio + ratioError < cap * (1 - unit) || Number.isNaN(cap) ? SIDE.none : SIDE.undecided;
}
