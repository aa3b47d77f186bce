import type { StagePlan } from '../stages/chain.ts';
import type { Estimator } from './estimator.ts';
import type { ParametersOf } from './parameters.ts';
import { numberText, SCORES_OF_ROWS } from './shared.ts';

const PARAMETERS = {
  decay: {
    kind: 'number',
    default: 0.95,
    least: 0,
    most: 1,
    mustBeStated: true,
    doc: 'Share of the old baseline that stays after each row.',
  },
  start: { kind: 'number', default: 0, doc: 'The baseline before the first row of the batch.' },
} as const;

/** Everything that changes the numbers of role-conditioned advantages, beside the baselines' history. */
export type RaeParameters = ParametersOf<typeof PARAMETERS>;

/** Role-conditioned advantage: the score less a moving average of the role's earlier scores. */
export const RAE: Estimator<RaeParameters> = {
  name: 'rae',
  title: 'Role-conditioned advantage estimation',
  formula:
    'A(i) = S_i − b, then b ← decay · b + (1 − decay) · S_i, one b per group (role), rows in the order of the batch',
  source: 'prime-rl, src/prime_rl/orchestrator/algo/rae.py',
  edgeCases:
    'The baselines start at `start` with each batch: later steps of a training need the trainer’s own state.',
  parameters: PARAMETERS,
  fingerprint: (p) => [`decay=${numberText(p.decay)}`, `start=${numberText(p.start)}`],
  uses: () => SCORES_OF_ROWS,
  rowPlan: chainOf,
  variants: () => [{ text: 'the baseline started at 0', changes: { start: 0 } }],
};

function chainOf({ decay, start }: RaeParameters): StagePlan {
  return {
    stages: [{ do: 'subtract-moving-average', decay, start }],
    singleton: 'raw',
    missing: 'propagate',
  };
}
