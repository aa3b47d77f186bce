import type { StagePlan } from '../stages/chain.ts';
import type { Estimator } from './estimator.ts';
import type { ParametersOf } from './parameters.ts';
import {
  numberText,
  unusual,
  WHITENING,
  whiteningParts,
  whiteningStages,
  whiteningVariants,
} from './shared.ts';
import { DISCOUNT, maskedTokensRule, usesTokens } from './token-chain.ts';

const PARAMETERS = {
  discount: DISCOUNT,
  maskedTokens: maskedTokensRule('skip', 'zero', 'reset'),
  ...WHITENING,
} as const;

/** Everything that changes the numbers of REINFORCE++ over tokens. */
export type ReinforcePlusPlusTokenParameters = ParametersOf<typeof PARAMETERS>;

/** REINFORCE++ with a discount or a KL term in the reward: each token has its own return. */
export const REINFORCE_PLUS_PLUS_TOKEN: Estimator<ReinforcePlusPlusTokenParameters> = {
  name: 'reinforce_plus_plus_token',
  title: 'REINFORCE++ over tokens',
  formula: 'A_t = (G_t − mean G) / √(var G + ε) over the mask of the batch, G_t = r_t + γ·G_(t+1)',
  source: 'verl, verl/trainer/ppo/core_algos.py',
  edgeCases:
    'One advantage per token; tokens outside the mask have none. The reward of a response stands at one of its tokens, with any KL term in it. A baseline of the group, if there is one, is part of that reward.',
  parameters: PARAMETERS,
  fingerprint: (p) => [
    `discount=${numberText(p.discount)}`,
    ...unusual('masked', p.maskedTokens, 'skip'),
    ...whiteningParts(p),
  ],
  uses: () => usesTokens('reward'),
  rowPlan: chainOf,
  variants: (p) => [
    ...[1, 0.999, 0.99, 0.95].map((discount) => ({ text: `discount ${discount}`, changes: { discount } })),
    { text: 'tokens outside the mask were ignored', changes: { maskedTokens: 'skip' } },
    { text: 'the return was discounted at tokens outside the mask', changes: { maskedTokens: 'zero' } },
    { text: 'the return was reset at tokens outside the mask', changes: { maskedTokens: 'reset' } },
    ...whiteningVariants(p),
  ],
};

function chainOf(p: ReinforcePlusPlusTokenParameters): StagePlan {
  const { discount, maskedTokens: masked } = p;
  const sums = { do: 'accumulate', discount, lambda: 1, values: false, masked } as const;
  return { stages: [sums, ...whiteningStages(p, 'token')], singleton: 'raw', missing: 'propagate' };
}
