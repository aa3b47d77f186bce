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
  lambda: { kind: 'number', default: 1, least: 0, most: 1, doc: 'λ of the generalised advantage.' },
  maskedTokens: maskedTokensRule('skip', 'include', 'zero'),
  ...WHITENING,
} as const;

/** Everything that changes the numbers of GAE. */
export type GaeParameters = ParametersOf<typeof PARAMETERS>;

/** Generalised advantage estimation over the tokens of a response, as PPO has it. */
export const GAE: Estimator<GaeParameters> = {
  name: 'gae',
  title: 'GAE: generalised advantage estimation over tokens',
  formula:
    'A_t = (x_t − mean x) / √(var x + ε) over the mask of the batch, x_t = δ_t + γλ·x_(t+1), δ_t = r_t + γ·V_(t+1) − V_t, V = 0 after the last token',
  source: 'verl, verl/trainer/ppo/core_algos.py',
  edgeCases:
    'One advantage per token; tokens outside the mask have none. The reward of a response stands at one of its tokens, with any KL term in it. A mask of one token in the whole batch has no sample deviation: its population deviation, 0, is taken.',
  parameters: PARAMETERS,
  fingerprint: (p) => [
    `discount=${numberText(p.discount)}`,
    `lambda=${numberText(p.lambda)}`,
    ...unusual('masked', p.maskedTokens, 'skip'),
    ...whiteningParts(p),
  ],
  uses: () => usesTokens('reward', 'value'),
  rowPlan: chainOf,
  variants: (p) => [
    ...[1, 0.99, 0.98, 0.97, 0.95, 0.9].map((lambda) => ({ text: `lambda ${lambda}`, changes: { lambda } })),
    ...[1, 0.99, 0.95].map((discount) => ({ text: `discount ${discount}`, changes: { discount } })),
    { text: 'the mask was ignored in the sums', changes: { maskedTokens: 'include' } },
    { text: 'tokens outside the mask were ignored', changes: { maskedTokens: 'skip' } },
    ...whiteningVariants(p),
  ],
};

function chainOf(p: GaeParameters): StagePlan {
  const { discount, lambda, maskedTokens: masked } = p;
  const sums = { do: 'accumulate', discount, lambda, values: true, masked } as const;
  return { stages: [sums, ...whiteningStages(p, 'token')], singleton: 'raw', missing: 'propagate' };
}
