import { around } from '../../arithmetic/interval.ts';
import { type PolicyLoss, SIDE } from './loss.ts';

/** Cross-entropy of the sampled tokens, whatever their advantage: supervised fine-tuning. Source: SkyRL ppo_utils.py `cross_entropy`. */
export const CROSS_ENTROPY: PolicyLoss = {
  name: 'cross-entropy',
  formula: '-logProb',
  source: 'SkyRL cross_entropy; prime-rl ce',
  parameters: {},
  ignoresOld: true,
  bind(_params, { out }) {
    return ({ logProb }) => {
      around(out.gradient, -1, 0);
      around(out.loss, -logProb, 0);
      out.side = SIDE.none;
    };
  },
};
