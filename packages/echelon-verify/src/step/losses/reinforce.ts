import { around } from '../../arithmetic/interval.ts';
import { type PolicyLoss, SIDE } from './loss.ts';

/** REINFORCE and GPG: −A·logProb, whatever the old log-probs are. Source: verl core_algos.py `gpg`, NeMo-RL `disable_ppo_ratio`. */
export const REINFORCE: PolicyLoss = {
  name: 'reinforce',
  formula: '-A logProb',
  source: 'verl gpg and bypass_mode with reinforce; NeMo-RL disable_ppo_ratio',
  parameters: {},
  ignoresOld: true,
  bind(_params, { out, arithmetic: { unit } }) {
    return ({ advantage, logProb }) => {
      around(out.gradient, -advantage, 0);
      around(out.loss, -advantage * logProb, unit * Math.abs(advantage * logProb));
      out.side = SIDE.none;
    };
  },
};
