import type { StagePlan } from '../stages/chain.ts';
import type { Stage } from '../stages/table.ts';
import type { Estimator } from './estimator.ts';
import type { ParametersOf } from './parameters.ts';
import { EPSILON, numberText, SCORES_OF_ROWS } from './shared.ts';

const PARAMETERS = {
  normalizeByStd: { kind: 'flag', default: true, doc: 'Divide by the sample deviation + ε of the group.' },
  epsilon: EPSILON,
} as const;

/** Everything that changes the numbers of GRPO for pass@k. */
export type GrpoPasskParameters = ParametersOf<typeof PARAMETERS>;

/** GRPO for pass@k: only the best row of a group has an advantage. */
export const GRPO_PASSK: Estimator<GrpoPasskParameters> = {
  name: 'grpo_passk',
  title: 'GRPO for pass@k',
  formula:
    'A(best) = (best S − second-best S) / (std S + ε) over the rows of a group; A of the other rows is 0',
  source: 'verl, verl/trainer/ppo/core_algos.py',
  edgeCases: 'Two best rows give 0 everywhere. A group of one row gives 0; verl refuses it.',
  parameters: PARAMETERS,
  fingerprint: (p) => [
    `std=${p.normalizeByStd ? 'sample' : 'none'}`,
    ...(p.normalizeByStd ? [`eps=${numberText(p.epsilon)}`] : []),
  ],
  uses: () => SCORES_OF_ROWS,
  rowPlan: chainOf,
  variants: (p) => [
    { text: 'the division by the deviation was switched', changes: { normalizeByStd: !p.normalizeByStd } },
  ],
};

function chainOf({ normalizeByStd, epsilon }: GrpoPasskParameters): StagePlan {
  const division: Stage = {
    do: 'divide-by-deviation',
    set: { over: 'group', weight: 'row' },
    of: 'scores',
    others: false,
    deviation: 'sample',
    epsilon,
    epsilonPlace: 'added',
  };
  return {
    stages: [{ do: 'best-less-second' }, ...(normalizeByStd ? [division] : [])],
    singleton: 'zero',
    missing: 'propagate',
  };
}
