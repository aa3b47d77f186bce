import { type PolicyLoss, SIDE } from './loss.ts';
import { setWithKl } from './prime-rl-kl.ts';
import { edgeOfMove, sideOfMove } from './probability-move.ts';

/**
 * prime-rl's default loss: −A·r·keep + klTau·(ln r)², r the ratio to the rollout policy, so that `oldLogProb` holds the rollout
 * log-probs. A token is kept unless its probability has moved too far in the direction of the advantage; A = 0 takes the lower test.
 * Source: prime-rl trainer/rl/loss.py `default_loss_fn`.
 */
export const PRIME_RL: PolicyLoss = {
  name: 'prime-rl',
  formula:
    '-advTau A r + klTau (ln r)^2; without -advTau A r if p - pOld > clipHigh (A > 0) or < -clipLow (A <= 0)',
  source: 'prime-rl default (oldLogProb: the rollout log-probs)',
  parameters: {
    clipLow: { fallback: 0.2, means: 'largest fall of the probability' },
    clipHigh: { fallback: 0.2, means: 'largest rise of the probability' },
    klTau: { fallback: 1e-3, means: 'coefficient of the squared log-ratio', isLinear: true },
    advTau: { fallback: 1, means: 'factor of the advantage' },
  },
  edge: edgeOfMove,
  bind({ clipLow, clipHigh, klTau, advTau }, { out, arithmetic }) {
    return (token) => {
      const { advantage, ratio, ratioError, logRatio } = token;
      const { unit } = arithmetic;
      out.side = sideOfMove(token, { clipLow: clipLow!, clipHigh: clipHigh! }, arithmetic);
      const isOut = out.side === SIDE.clip;
      const own = advTau! * advantage;
      const policy = isOut ? 0 : -own * ratio;
      // A factor of 1 is exact.
      const roundings = advTau === 1 ? 2 : 3;
      const policyError = isOut ? 0 : Math.abs(own) * ratioError + roundings * unit * Math.abs(policy);
      setWithKl(out, { policy, policyError, klTau: klTau!, logRatio, unit });
    };
  },
};
