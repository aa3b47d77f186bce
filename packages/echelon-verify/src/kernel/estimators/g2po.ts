import type { Estimator, EstimatorInput, RowPlan } from './estimator.ts';
import { gigpoStepTerm } from './gigpo.ts';
import { grpo } from './grpo.ts';
import { nodeColumns } from './node-values.ts';
import type { ChoiceRule, ParametersOf } from './parameters.ts';
import { completeParameters } from './parameters.ts';
import {
  deviationRule,
  deviationVariant,
  EPSILON,
  GROUP_SINGLETON,
  GROUP_STATISTICS,
  groupVariants,
  modeRule,
  modeVariant,
  numberText,
  unusual,
} from './shared.ts';

const VALUE_FORMAT: ChoiceRule<'float64' | 'float32'> = {
  kind: 'choice',
  choices: ['float64', 'float32'],
  default: 'float64',
  doc: 'Format of γ^(T − t) · R: numpy 2 computes it in `float32`, earlier versions in `float64`.',
};

const PARAMETERS = {
  mode: modeRule('mean_norm'),
  stepAdvantageWeight: { kind: 'number', default: 1, doc: 'ω, the weight of both terms of the step.' },
  discount: {
    kind: 'number',
    default: 0.95,
    least: 0,
    doc: 'γ of the values. It is a constant of the code.',
  },
  successReward: {
    kind: 'number',
    default: 10,
    doc: 'The episode reward of a success, and the value of having succeeded.',
  },
  invalidPenalty: {
    kind: 'number',
    default: 0.1,
    doc: 'Taken off the successor value of an invalid action, apart from the penalty of the score.',
  },
  valueFormat: VALUE_FORMAT,
  epsilon: EPSILON,
  deviation: deviationRule('sample'),
  singleton: GROUP_SINGLETON,
  statistics: GROUP_STATISTICS,
} as const;

/** Everything that changes G²PO's numbers. */
export type G2poParameters = ParametersOf<typeof PARAMETERS>;

const RECIPE: G2poParameters = completeParameters(PARAMETERS);

/** The names of its two columns, as people read them. */
const [SUCCESSOR, GAIN] = ['successor value', 'gain'];

/** Episode term, and two terms over the values of states: ../node-values.ts. */
export const G2PO: Estimator<G2poParameters> = {
  name: 'g2po',
  title: 'Group-graph policy optimisation',
  formula:
    'A(i) = A_episode(i) + ω · (c1(i) + c2(i)): GRPO of the scores, of x over the rows of i’s group and observation, and of y over i’s group',
  source: 'Nala-YN/G2PO, g2po/core_g2po.py',
  edgeCases:
    'x is the value of the next state less the penalty of an invalid action, y the value of the next state less that of the own. A state of one row gives c1 = 0. A group of one row gives c2 = 0, or NaN by `mean_std_norm`. c1 is computed in float64, c2 in float32.',
  parameters: PARAMETERS,
  fingerprint: (p) => [
    p.mode,
    `step-weight=${numberText(p.stepAdvantageWeight)}`,
    ...(isDivided(p) ? [`std=${p.deviation}`, `eps=${numberText(p.epsilon)}`] : []),
    `values=${p.valueFormat}`,
    `singleton=${p.singleton}`,
    `over=${p.statistics}`,
    ...unusual('discount', numberText(p.discount), numberText(RECIPE.discount)),
    ...unusual('success', numberText(p.successReward), numberText(RECIPE.successReward)),
    ...unusual('invalid', numberText(p.invalidPenalty), numberText(RECIPE.invalidPenalty)),
  ],
  uses: (p) => ({
    observation: true,
    stepReturn: false,
    score: true,
    environment: p.invalidPenalty === 0 ? ['reward'] : ['reward', 'actionValid'],
    scoresOver: p.statistics,
    stepwise: p.stepAdvantageWeight !== 0,
  }),
  columns: (input, p) => {
    const { successor, gain } = columnsOf(input, p);
    return { [SUCCESSOR!]: successor, [GAIN!]: gain };
  },
  evaluate: (input, parameters) => {
    const p = completeParameters(PARAMETERS, parameters);
    const { steps, score } = input;
    const { successor, gain } = columnsOf(input, p);
    const normalizeByStd = isDivided(p);
    const { deviation, epsilon, singleton, statistics, stepAdvantageWeight: weight } = p;
    const rules = { normalizeByStd, deviation, epsilon };
    const advantage = grpo(steps.group, score(), { ...rules, singleton, statistics }, steps.trajectory);
    const c1 = gigpoStepTerm(steps, successor.value, { mode: p.mode, deviation, epsilon });
    const c2 = grpo(steps.group, gain.value, { ...rules, singleton: singleOf(p) });
    return advantage.map((episode, row) => episode + weight * (c1[row]! + c2[row]!));
  },
  rowPlan,
  variants: (p) => [
    deviationVariant(p),
    modeVariant(p),
    { text: 'epsilon 1e-4', changes: { epsilon: 1e-4 } },
    { text: 'epsilon 1e-8', changes: { epsilon: 1e-8 } },
    { text: 'the step weight was omitted', changes: { stepAdvantageWeight: 1 } },
    { text: 'the terms of the step are missing', changes: { stepAdvantageWeight: 0 } },
    { text: 'values without discount', changes: { discount: 1 } },
    { text: 'the penalty is missing from the successor values', changes: { invalidPenalty: 0 } },
    { text: 'a success counts 1', changes: { successReward: 1 } },
    ...groupVariants(p),
  ],
};

function isDivided({ mode }: Pick<G2poParameters, 'mode'>): boolean {
  return mode === 'mean_std_norm';
}

/** torch has no sample deviation of one value. */
function singleOf(p: G2poParameters): 'nan' | 'zero' {
  return isDivided(p) && p.deviation === 'sample' ? 'nan' : 'zero';
}

function columnsOf({ steps, environment }: EstimatorInput, p: G2poParameters) {
  if (environment === undefined) throw new TypeError('g2po needs the rewards of the steps');
  return nodeColumns(steps, environment(), p);
}

function rowPlan(p: G2poParameters): RowPlan {
  const { deviation, singleton, statistics, epsilon, stepAdvantageWeight: weight } = p;
  const norm = isDivided(p) ? 'deviation' : 'none';
  const group = { over: 'group', norm, deviation, overTokens: false } as const;
  return {
    combination: 'sum',
    terms: [
      { ...group, singleton, statistics, weight: 1 },
      {
        over: 'context',
        of: SUCCESSOR!,
        isDouble: true,
        historyLength: 0,
        norm,
        deviation,
        weight: () => weight,
        weighedBy: `step weight ${weight}`,
      },
      { ...group, of: GAIN!, singleton: singleOf(p), statistics: 'rows', weight },
    ],
    epsilon,
    weightEpsilon: epsilon,
  };
}
