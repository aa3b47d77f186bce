import type { StagePlan } from '../stages/chain.ts';
import type { Estimator } from './estimator.ts';
import type { ParametersOf } from './parameters.ts';
import { SCORES_OF_ROWS, singletonRule } from './shared.ts';

const PARAMETERS = { singleton: singletonRule('raw') } as const;

/** Everything that changes OPO's numbers. */
export type OpoParameters = ParametersOf<typeof PARAMETERS>;

/** On-policy optimisation with the baseline of least variance: the mean weighted by length. */
export const OPO: Estimator<OpoParameters> = {
  name: 'opo',
  title: 'On-policy optimisation with the length-weighted baseline',
  formula: 'A(i) = S_i − Σ L·S / Σ L over the rows of i’s group, L the response tokens of a row',
  source: 'verl, verl/trainer/ppo/core_algos.py',
  edgeCases: 'A group of one value gives S_i by `raw`. A group without a token gives NaN.',
  parameters: PARAMETERS,
  fingerprint: (p) => [`singleton=${p.singleton}`],
  uses: () => ({ ...SCORES_OF_ROWS, responseLength: true }),
  rowPlan: chainOf,
  variants: () => [{ text: 'a group of one gives 0', changes: { singleton: 'zero' } }],
};

function chainOf({ singleton }: OpoParameters): StagePlan {
  const set = { over: 'group', weight: 'token' } as const;
  return { stages: [{ do: 'subtract-mean', set }], singleton, missing: 'propagate' };
}
