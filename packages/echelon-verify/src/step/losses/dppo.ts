import { around, exactly, expError, include } from '../arithmetic.ts';
import { type PolicyLoss, SIDE } from './loss.ts';

/**
 * DPPO with the total-variation test: −A·stop(min(r, cap))·logProb, dropped if the probability has moved too far in the
 * direction of the advantage. The difference of two exponentials has their absolute errors. Source: verl core_algos.py `dppo_tv`.
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
  bind({ clipLow, clipHigh, cap }, { out, arithmetic }) {
    return (token) => {
      const { advantage, ratio, ratioError, logProb, oldLogProb } = token;
      const { unit } = arithmetic;
      const weight = Number.isNaN(cap!) ? ratio : Math.min(ratio, cap!);
      const error = Math.abs(advantage) * (ratioError + 4 * unit * weight);
      const now = Math.exp(logProb);
      const before = Math.exp(oldLogProb);
      const moved = advantage > 0 ? now - before : before - now;
      const movedError =
        now * expError(logProb, arithmetic) +
        before * expError(oldLogProb, arithmetic) +
        unit * Math.abs(moved);
      const most = advantage > 0 ? clipHigh! : clipLow!;
      const isOut = moved - movedError > most * (1 + unit);
      const isIn = moved + movedError < most * (1 - unit);
      out.side = isOut ? SIDE.clip : isIn ? SIDE.none : SIDE.undecided;
      if (isOut) {
        exactly(out.gradient, 0);
        exactly(out.loss, 0);
        return;
      }
      around(out.gradient, -weight * advantage, error);
      around(out.loss, -weight * advantage * logProb, error * Math.abs(logProb));
      if (isIn) return;
      include(out.gradient, 0);
      include(out.loss, 0);
    };
  },
};
