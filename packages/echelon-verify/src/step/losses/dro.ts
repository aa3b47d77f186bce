import { around } from '../../arithmetic/interval.ts';
import { type PolicyLoss, SIDE } from './loss.ts';

/** DRO: −(A·logProb − β/2·d²) with d = logProb − oldLogProb, which rounds once. Source: verl core_algos.py `dro`. */
export const DRO: PolicyLoss = {
  name: 'dro',
  formula: '-(A logProb - beta/2 d^2)',
  source: 'verl dro',
  parameters: { beta: { fallback: 1, means: 'β: strength of the quadratic penalty', isLinear: true } },
  bind({ beta }, { out, arithmetic: { unit } }) {
    return ({ advantage, logProb, logRatio }) => {
      const gain = advantage * logProb;
      const penalty = (beta! / 2) * logRatio * logRatio;
      around(out.loss, penalty - gain, unit * (3 * Math.abs(gain) + 6 * penalty));
      const pull = beta! * logRatio;
      around(out.gradient, pull - advantage, unit * (2 * Math.abs(advantage) + 6 * Math.abs(pull)));
      out.side = SIDE.none;
    };
  },
};
