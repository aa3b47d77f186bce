import type { Estimator } from '../../src/kernel/estimators/estimator.ts';
import { completeParameters, type ParametersOf } from '../../src/kernel/estimators/parameters.ts';
import { GROUP_STATISTICS, numberText } from '../../src/kernel/estimators/shared.ts';
import { membersOf, setSums, standInsOf } from '../../src/kernel/sets/row-sets.ts';
import { idCount } from '../../src/kernel/sets/steps.ts';

const PARAMETERS = {
  scale: { kind: 'number', default: 1, doc: 'Factor of the advantage.' },
  statistics: GROUP_STATISTICS,
} as const;

export type MeanBaselineParameters = ParametersOf<typeof PARAMETERS>;

/** REINFORCE against the mean of the group. */
export const MEAN_BASELINE: Estimator<MeanBaselineParameters> = {
  name: 'mean_baseline',
  title: 'REINFORCE against the mean of the group',
  formula: 'A(i) = scale · (S_i − mean S) over the rows of i’s group',
  source: 'an example',
  edgeCases: 'A group of one value gives 0.',
  parameters: PARAMETERS,
  fingerprint: (p) => [`scale=${numberText(p.scale)}`, `over=${p.statistics}`],
  uses: (p) => ({
    observation: false,
    stepReturn: false,
    score: true,
    scoresOver: p.statistics,
    stepwise: false,
  }),
  evaluate({ steps, score }, p) {
    const { scale, statistics } = completeParameters(PARAMETERS, p);
    const { group } = steps;
    const members = membersOf(group, standInsOf({ statistics }, steps));
    const { mean } = setSums(members, idCount('group', group), score());
    return score().map((s, row) => scale * (s - mean[group[row]!]!));
  },
  rowPlan: ({ scale, statistics }) => ({
    combination: 'sum',
    terms: [
      {
        over: 'group',
        norm: 'none',
        deviation: 'sample',
        singleton: 'zero',
        statistics,
        weight: scale,
        overTokens: false,
      },
    ],
    epsilon: 0,
    weightEpsilon: 0,
  }),
  variants: () => [{ text: 'the factor was omitted', changes: { scale: 1 } }],
};
