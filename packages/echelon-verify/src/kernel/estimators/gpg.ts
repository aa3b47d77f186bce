import type { StagePlan } from '../stages/chain.ts';
import type { Estimator } from './estimator.ts';
import type { ParametersOf } from './parameters.ts';
import { SCORES_OF_ROWS, singletonRule } from './shared.ts';

const PARAMETERS = { singleton: singletonRule('raw') } as const;

/** Everything that changes GPG's numbers. */
export type GpgParameters = ParametersOf<typeof PARAMETERS>;

/** Group policy gradient: centred scores, scaled by the share of rows that have a score. */
export const GPG: Estimator<GpgParameters> = {
  name: 'gpg',
  title: 'Group policy gradient',
  formula:
    'A(i) = N / N₊ · (S_i − mean S) over i’s group; N rows in the batch, N₊ of them with a score other than 0',
  source: 'verl, verl/trainer/ppo/core_algos.py',
  edgeCases: 'A group of one value gives N / N₊ · S_i by `raw`. A batch of zeros has the factor N.',
  parameters: PARAMETERS,
  fingerprint: (p) => [`singleton=${p.singleton}`],
  uses: () => SCORES_OF_ROWS,
  rowPlan: chainOf,
  variants: () => [{ text: 'a group of one gives 0', changes: { singleton: 'zero' } }],
};

function chainOf({ singleton }: GpgParameters): StagePlan {
  return {
    stages: [
      { do: 'subtract-mean', set: { over: 'group', weight: 'row' } },
      { do: 'multiply-by-signal-share' },
    ],
    singleton,
    missing: 'propagate',
  };
}
