import { around, exactly, include } from '../../arithmetic/interval.ts';
import { type PolicyLoss, SIDE } from './loss.ts';

/** The slope of the derivative of the logistic function is below this: 1/(6·√3). */
const MAX_CURVATURE = 0.0963;

/**
 * SAPO: a logistic gate instead of the clip, −A·σ(τ(r − 1))·4/τ. The argument has the ratio's error and two roundings; the
 * logistic function changes by a quarter of it, its derivative s(1 − s) by less than a tenth, and by 5u·s, since 1 − s is
 * rounded if s is near 1. Source: verl core_algos.py `sapo`, TRL grpo_trainer.py.
 */
export const SAPO: PolicyLoss = {
  name: 'sapo',
  formula: '-A 4/τ σ(τ (r - 1)), τ = tauPositive for A > 0, else tauNegative',
  source: 'verl, TRL, ms-swift, SkyRL, AReaL sapo',
  parameters: {
    tauPositive: { fallback: 1, means: 'τ for A > 0', guesses: [1, 1.05] },
    tauNegative: { fallback: 1.05, means: 'τ for A ≤ 0', guesses: [1, 1.05] },
    logRatioClamp: {
      fallback: null,
      means: 'the log-ratio is clamped to ± this before exp',
      guesses: [null, 20],
    },
  },
  bind({ tauPositive, tauNegative }, { out, arithmetic: { unit } }) {
    return (token) => {
      const { advantage, ratio, ratioError, moves } = token;
      const tau = advantage > 0 ? tauPositive! : tauNegative!;
      const x = tau * (ratio - 1);
      const xError = tau * (ratioError + unit * Math.abs(ratio - 1)) + 2 * unit * Math.abs(x);
      const gate = 1 / (1 + Math.exp(-x));
      const slope = gate * (1 - gate);
      const size = Math.abs(advantage);
      const loss = (-advantage * 4 * gate) / tau;
      around(out.loss, loss, ((size * 4) / tau) * (xError / 4 + 5 * unit * gate) + 4 * unit * Math.abs(loss));
      const gradient = -advantage * 4 * slope * ratio;
      const slopeError = MAX_CURVATURE * xError + 5 * unit * gate;
      const error = 4 * size * (ratio * slopeError + slope * ratioError) + 8 * unit * Math.abs(gradient);
      if (moves === 0) exactly(out.gradient, 0);
      else around(out.gradient, gradient, error);
      if (moves < 0) include(out.gradient, 0);
      out.side = SIDE.none;
    };
  },
};
