import { around } from '../../src/arithmetic/interval.ts';
import { type PolicyLoss, SIDE } from '../../src/step/losses/loss.ts';

/**
 * An example: the policy gradient with a pull towards the reference policy, −A·r + pull/2·x² with x = logProb − referenceLogProb. The
 * difference x rounds once, so that its square has three roundings; each product has one.
 */
export const PULL: PolicyLoss = {
  name: 'pull',
  formula: '-A r + pull/2 x^2, x = logProb - referenceLogProb',
  source: 'an example',
  columns: ['referenceLogProb'],
  parameters: { pull: { fallback: 1, means: 'strength of the pull' } },
  bind({ pull }, { out, arithmetic: { unit }, tokens: { referenceLogProb } }) {
    return ({ advantage, ratio, ratioError, logProb }, at) => {
      const x = logProb - referenceLogProb![at]!;
      const gain = -advantage * ratio;
      const error = Math.abs(advantage) * ratioError + 2 * unit * Math.abs(gain);
      const penalty = (pull! / 2) * x * x;
      around(out.loss, gain + penalty, error + 6 * unit * penalty);
      const slope = pull! * x;
      around(out.gradient, gain + slope, error + 4 * unit * Math.abs(slope));
      out.side = SIDE.none;
    };
  },
};
