import type { StagePlan } from '../stages/chain.ts';
import type { DivideByDeviation } from '../stages/divide-by-deviation.ts';
import type { Stage } from '../stages/table.ts';
import type { Estimator } from './estimator.ts';
import type { ChoiceRule, ParametersOf } from './parameters.ts';
import {
  EPSILON,
  EPSILON_PLACE,
  MISSING_SCORE,
  numberText,
  SCORES_OF_ROWS,
  singletonRule,
  unusual,
} from './shared.ts';

const BASELINE: ChoiceRule<'group' | 'leave-one-out'> = {
  kind: 'choice',
  choices: ['group', 'leave-one-out'],
  default: 'group',
  doc: '`leave-one-out` compares each row with the mean and deviation of the others, and divides only above 0.',
};

const WEIGHT: ChoiceRule<'row' | 'token'> = {
  kind: 'choice',
  choices: ['row', 'token'],
  default: 'row',
  doc: 'A row counts once, or once per response `token`, when the sum is whitened.',
};

const PARAMETERS = {
  baseline: BASELINE,
  epsilon: { ...EPSILON, default: 1e-4, doc: 'ε of each reward’s own division.' },
  batchEpsilon: { ...EPSILON, default: 1e-4, doc: 'ε of the division of the sum.' },
  batchEpsilonPlace: EPSILON_PLACE,
  weight: WEIGHT,
  singleton: singletonRule('zero'),
  missing: MISSING_SCORE,
} as const;

/** Everything that changes GDPO's numbers, beside the weights of the reward functions. */
export type GdpoParameters = ParametersOf<typeof PARAMETERS>;

/** Each reward is normalised in its group on its own, and the weighted sum is whitened over the batch. */
export const GDPO: Estimator<GdpoParameters> = {
  name: 'gdpo',
  title: 'Group reward-decoupled normalisation',
  formula:
    'A(i) = (x_i − mean x) / (std x + ε₂) over the batch, x_i = Σ_k w_k · (S_ki − mean S_k) / (std S_k + ε₁) over i’s group',
  source: 'TRL, trl/trainer/grpo_trainer.py (`normalize_then_sum`)',
  edgeCases: 'A reward that a function did not give counts as 0 and enters no statistic of that function.',
  parameters: PARAMETERS,
  fingerprint: (p) => [
    `eps=${numberText(p.epsilon)}`,
    `batch-eps=${numberText(p.batchEpsilon)}`,
    `weight=${p.weight}`,
    `singleton=${p.singleton}`,
    ...unusual('baseline', p.baseline, 'group'),
    ...unusual('batch-eps-place', p.batchEpsilonPlace, 'added'),
    ...unusual('missing', p.missing, 'propagate'),
  ],
  uses: (p) => ({ ...SCORES_OF_ROWS, score: false, rewards: true, responseLength: p.weight === 'token' }),
  rowPlan: chainOf,
  variants: () => [
    { text: 'epsilon 1e-8 in both divisions', changes: { epsilon: 1e-8, batchEpsilon: 1e-8 } },
    { text: 'each reward against the others of its group', changes: { baseline: 'leave-one-out' } },
  ],
};

function chainOf(p: GdpoParameters): StagePlan {
  const group = { over: 'group', weight: 'row' } as const;
  const batch = { over: 'batch', weight: p.weight } as const;
  const others = p.baseline === 'leave-one-out';
  const own: DivideByDeviation = {
    do: 'divide-by-deviation',
    set: group,
    of: 'scores',
    others,
    deviation: 'sample',
    epsilon: p.epsilon,
    epsilonPlace: 'added',
    // NeMo-RL, whose form this is, divides only above 0, and so with the sum.
    ...(others ? { guard: { above: 0, otherwise: 'keep' } } : {}),
  };
  const centre: Stage = others ? { do: 'subtract-others' } : { do: 'subtract-mean', set: group };
  const { batchEpsilon: epsilon, batchEpsilonPlace: epsilonPlace } = p;
  return {
    perReward: [centre, own],
    stages: [
      { do: 'subtract-mean', set: batch },
      { ...own, set: batch, of: 'current', others: false, epsilon, epsilonPlace },
    ],
    singleton: p.singleton,
    missing: p.missing,
  };
}
