import type { StagePlan } from '../stages/chain.ts';
import type { Estimator } from './estimator.ts';
import type { ParametersOf } from './parameters.ts';
import {
  EPSILON,
  GUARD_ABOVE,
  guardOf,
  guardParts,
  guardRule,
  numberText,
  SCORES_OF_ROWS,
  singletonRule,
} from './shared.ts';

const PARAMETERS = {
  epsilon: { ...EPSILON, default: 0, doc: 'Added to the mean.' },
  guard: guardRule('zero'),
  guardAbove: GUARD_ABOVE,
  singleton: singletonRule('zero'),
} as const;

/** Everything that changes MaxRL's numbers. */
export type MaxRlParameters = ParametersOf<typeof PARAMETERS>;

/** Maximum-likelihood reinforcement learning: division by the mean instead of the deviation. */
export const MAX_RL: Estimator<MaxRlParameters> = {
  name: 'max_rl',
  title: 'Maximum-likelihood reinforcement learning',
  formula: 'A(i) = (S_i − mean S) / (mean S + ε) over the rows of i’s group',
  source: 'prime-rl, src/prime_rl/orchestrator/algo/max_rl.py',
  edgeCases:
    'A group whose mean is 0 or less gives 0 by `guard: zero`; SkyRL has `guard: none` and ε = 1e-6.',
  parameters: PARAMETERS,
  fingerprint: (p) => [`eps=${numberText(p.epsilon)}`, ...guardParts(p), `singleton=${p.singleton}`],
  uses: () => SCORES_OF_ROWS,
  rowPlan: chainOf,
  variants: () => [
    {
      text: 'SkyRL’s form: epsilon 1e-6, any sign',
      changes: { epsilon: 1e-6, guard: 'none', singleton: 'raw' },
    },
  ],
};

function chainOf(p: MaxRlParameters): StagePlan {
  return {
    stages: [
      { do: 'subtract-mean', set: { over: 'group', weight: 'row' } },
      { do: 'divide-by-mean', epsilon: p.epsilon, ...guardOf(p) },
    ],
    singleton: p.singleton,
    missing: 'propagate',
  };
}
