import { expError } from './arithmetic.ts';
import { type PolicyLoss, SIDE } from './loss.ts';
import { setWithKl } from './prime-rl-kl.ts';

/**
 * prime-rl's loss `ipo`: as its default one, but a token is kept as long as its probability has moved by at most the threshold, in
 * whichever direction. Source: prime-rl trainer/rl/loss.py `ipo_loss_fn`.
 */
export const PRIME_RL_IPO: PolicyLoss = {
  name: 'prime-rl-ipo',
  formula: '-advTau A r + klTau (ln r)^2; without -advTau A r if |p - pOld| > threshold',
  source: 'prime-rl ipo (oldLogProb: the rollout log-probs)',
  parameters: {
    threshold: { fallback: 0.1, means: 'largest change of the probability' },
    klTau: { fallback: 1e-3, means: 'coefficient of the squared log-ratio' },
    advTau: { fallback: 1, means: 'factor of the advantage' },
  },
  edge: ({ logProb, oldLogProb }, { threshold }) => {
    const value = Math.exp(logProb) - Math.exp(oldLogProb);
    return { of: 'change of the probability', value, limit: value < 0 ? -threshold! : threshold! };
  },
  bind({ threshold, klTau, advTau }, { out, arithmetic }) {
    const { unit } = arithmetic;
    return ({ advantage, ratio, ratioError, logRatio, logProb, oldLogProb }) => {
      const [now, before] = [Math.exp(logProb), Math.exp(oldLogProb)];
      const moved = Math.abs(now - before);
      const blur =
        now * expError(logProb, arithmetic) + before * expError(oldLogProb, arithmetic) + unit * moved;
      const isOut = moved - blur > threshold! * (1 + unit);
      const isIn = moved + blur < threshold! * (1 - unit);
      out.side = isOut ? SIDE.clip : isIn ? SIDE.none : SIDE.undecided;
      const policy = -advTau! * advantage * ratio;
      const error = Math.abs(advTau! * advantage) * ratioError + 3 * unit * Math.abs(policy);
      const [kept, own] = isOut ? [0, 0] : [policy, error];
      setWithKl(out, { policy: kept, policyError: own, klTau: klTau!, logRatio, unit });
    };
  },
};
