import type { GoalDistance } from '../graph.ts';
import type { Estimator } from './estimator.ts';
import { GIGPO, GIGPO_PARAMETERS } from './gigpo.ts';
import type { ChoiceRule, ParametersOf } from './parameters.ts';
import { numberText, unusual } from './shared.ts';

const DISTANCE: ChoiceRule<GoalDistance> = {
  kind: 'choice',
  choices: ['absolute', 'progress', 'with-cost'],
  default: 'absolute',
  doc: 'The exponent of γ: the distance of the next observation (`absolute`), that less the distance of the observation plus 1 (`progress`, the recipe’s `normalize_distance`), or plus 1 (`with-cost`, the paper [2nd]).',
};

const PARAMETERS = {
  ...GIGPO_PARAMETERS,
  mode: { ...GIGPO_PARAMETERS.mode, default: 'mean_std_norm' },
  distance: DISTANCE,
  goalReward: { kind: 'number', default: 10, doc: 'Return of a step that reaches the goal.' },
  mergedStates: {
    kind: 'flag',
    default: false,
    doc: 'The graph merges similar observations (`enable_similarity`). Reported step returns are then not checked.',
  },
} as const;

/** Everything that changes GraphGPO's numbers. γ is the batch's `gamma`. */
export type GraphgpoParameters = ParametersOf<typeof PARAMETERS>;

/** GiGPO on step returns that come from the graph of the group: ../graph.ts. */
export const GRAPHGPO: Estimator<GraphgpoParameters> = {
  ...GIGPO,
  name: 'graphgpo',
  title: 'GiGPO on distances in the graph of the group',
  formula:
    'A(i) as of `gigpo`, with step returns G(i) = `goalReward` · γ^d, less the penalty of an invalid action; d is the distance from i’s next observation to the goal over all steps of i’s group',
  source: 'verl-agent, recipe/GraphGPO/core_graph.py',
  edgeCases:
    'Observations from which no step leads to the goal are one step farther than the farthest other. Without success in the group all returns are equal but for penalties. Otherwise as of `gigpo`.',
  parameters: PARAMETERS,
  fingerprint: (p) => [
    ...GIGPO.fingerprint(p),
    ...unusual('distance', p.distance, 'absolute'),
    ...(p.goalReward === 10 ? [] : [`goal=${numberText(p.goalReward)}`]),
    ...(p.mergedStates ? ['states=merged'] : []),
  ],
  uses: (p) => ({
    ...GIGPO.uses(p),
    nextObservation: true,
    ...(p.mergedStates ? {} : { goalReturns: { distance: p.distance, goalReward: p.goalReward } }),
  }),
};
