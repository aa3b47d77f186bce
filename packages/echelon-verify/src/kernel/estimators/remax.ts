import type { StagePlan } from '../stages/chain.ts';
import type { Estimator } from './estimator.ts';
import type { ParametersOf } from './parameters.ts';
import { unusual } from './shared.ts';
import { maskedTokensRule, RETURN_OF_TOKENS, usesTokens } from './token-chain.ts';

const PARAMETERS = { maskedTokens: maskedTokensRule('skip', 'include') } as const;

/** Everything that changes ReMax's numbers. */
export type RemaxParameters = ParametersOf<typeof PARAMETERS>;

/** REINFORCE against the reward of a greedy response to the same prompt. */
export const REMAX: Estimator<RemaxParameters> = {
  name: 'remax',
  title: 'ReMax: REINFORCE against a greedy response',
  formula: 'A_t = Σ_{u ≥ t} r_u − b, b the reward of one greedy response to the prompt of the row',
  source: 'verl, verl/trainer/ppo/core_algos.py',
  edgeCases:
    'One advantage per token; tokens outside the mask have none. The reward of a response stands at one of its tokens, with any KL term in it; `b` has none.',
  parameters: PARAMETERS,
  fingerprint: (p) => ['baseline=greedy', ...unusual('masked', p.maskedTokens, 'skip')],
  uses: () => ({ ...usesTokens('reward'), rewardBaseline: true }),
  rowPlan: chainOf,
  variants: () => [
    { text: 'rewards outside the mask were counted', changes: { maskedTokens: 'include' } },
    { text: 'tokens outside the mask were ignored', changes: { maskedTokens: 'skip' } },
  ],
};

function chainOf({ maskedTokens: masked }: RemaxParameters): StagePlan {
  return {
    stages: [{ ...RETURN_OF_TOKENS, masked }, { do: 'subtract-greedy-reward' }],
    singleton: 'raw',
    missing: 'propagate',
  };
}
