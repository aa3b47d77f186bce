import { around, exactly, include } from '../arithmetic.ts';
import { type PolicyLoss, SIDE } from './loss.ts';
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
    cap: { fallback: 20, means: 'upper bound of the ratio; null: none' },
    logRatioClamp: { fallback: 20, means: 'the log-ratio is clamped to ± this before exp' },
  },
  edge: edgeOfMove,
  bind({ clipLow, clipHigh, cap }, { out, arithmetic }) {
    return (token) => {
      const { advantage, ratio, ratioError, logProb } = token;
      const { unit } = arithmetic;
      const weight = Number.isNaN(cap!) ? ratio : Math.min(ratio, cap!);
      const error = Math.abs(advantage) * (ratioError + 4 * unit * weight);
      out.side = sideOfMove(token, { clipLow: clipLow!, clipHigh: clipHigh! }, arithmetic);
      if (out.side === SIDE.clip) {
        exactly(out.gradient, 0);
        exactly(out.loss, 0);
        return;
      }
      around(out.gradient, -weight * advantage, error);
      around(out.loss, -weight * advantage * logProb, error * Math.abs(logProb));
      if (out.side === SIDE.none) return;
      include(out.gradient, 0);
      include(out.loss, 0);
    };
  },
};
