import type { StagePlan } from '../stages/chain.ts';
import type { TokenAlignment } from '../stages/subtract-token-baseline.ts';
import type { Estimator } from './estimator.ts';
import type { ChoiceRule, ParametersOf } from './parameters.ts';
import { EPSILON, numberText } from './shared.ts';
import { RETURN_OF_TOKENS, usesTokens } from './token-chain.ts';

const ALIGN: ChoiceRule<TokenAlignment> = {
  kind: 'choice',
  choices: ['position', 'trained-token'],
  default: 'position',
  doc: 'Tokens of a group that are compared: those at one `position` of the response, or the j-th `trained-token` of each.',
};

const PARAMETERS = {
  align: ALIGN,
  zeroTail: {
    kind: 'flag',
    default: true,
    doc: 'The only response of the greatest length has no baseline beyond the second greatest length. Lengths count trained tokens.',
  },
  rolloutWeights: {
    kind: 'flag',
    default: false,
    doc: 'Multiply 1 − 2π + Σπ² by the square of the weight of the rollout correction.',
  },
  epsilon: { ...EPSILON, default: 1e-8, doc: 'Added to the sum of the weights.' },
} as const;

/** Everything that changes the numbers of the optimal token baseline. */
export type OptimalTokenBaselineParameters = ParametersOf<typeof PARAMETERS>;

/** REINFORCE against a baseline of least variance for each token. */
export const OPTIMAL_TOKEN_BASELINE: Estimator<OptimalTokenBaselineParameters> = {
  name: 'optimal_token_baseline',
  title: 'Optimal token baseline',
  formula:
    'A_t = G_t − Σ G·W / (Σ W + ε) over the tokens at one place of the group’s responses, G_t = Σ_{u ≥ t} r_u, W_t = Σ_{u ≤ t} (1 − 2π_u + Σπ_u²)',
  source: 'verl, verl/trainer/ppo/core_algos.py',
  edgeCases:
    'One advantage per token; tokens outside the mask have none. A group of one response has no baseline. If all tokens up to a place were nearly certain, W is a difference of equal numbers: float32 can then give any baseline, and such a token is `rounding` whatever it reports. A row that has no other token is unverifiable.',
  parameters: PARAMETERS,
  fingerprint: (p) => [
    `align=${p.align}`,
    `zero-tail=${p.zeroTail ? 'on' : 'off'}`,
    ...(p.rolloutWeights ? ['weights=rollout-squared'] : []),
    `eps=${numberText(p.epsilon)}`,
  ],
  uses: ({ rolloutWeights }) =>
    usesTokens(
      'reward',
      'logProb',
      'squaredProbabilities',
      ...(rolloutWeights ? (['rolloutWeight'] as const) : []),
    ),
  rowPlan: chainOf,
  variants: (p) => [
    p.align === 'position'
      ? { text: 'the j-th trained tokens were compared, not positions', changes: { align: 'trained-token' } }
      : { text: 'positions were compared, not the j-th trained tokens', changes: { align: 'position' } },
    p.zeroTail
      ? { text: 'the tail of the longest response has a baseline', changes: { zeroTail: false } }
      : { text: 'the tail of the longest response has no baseline', changes: { zeroTail: true } },
    p.rolloutWeights
      ? { text: 'the weights of the rollout correction were omitted', changes: { rolloutWeights: false } }
      : { text: 'the weights of the rollout correction were applied', changes: { rolloutWeights: true } },
  ],
};

function chainOf(p: OptimalTokenBaselineParameters): StagePlan {
  return {
    stages: [
      { ...RETURN_OF_TOKENS, masked: 'skip' },
      { do: 'subtract-token-baseline', ...p },
    ],
    singleton: 'raw',
    missing: 'propagate',
  };
}
