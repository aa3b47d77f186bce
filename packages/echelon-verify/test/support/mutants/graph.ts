/** Planted bugs of GraphGPO: in the graph, its distances, the returns that follow from them, and what is done with these. */

import type { Batch } from '../../../src/format/batch.ts';
import { GOAL, goalDistances, goalReturns, type Transitions } from '../../../src/kernel/graph.ts';
import { stepReturns } from '../../../src/kernel/returns.ts';
import { type Mutant, reportBy, withReturns } from './tools.ts';

const BASE = 'graphgpo-0.1-mean_std_norm';
const CODE = 'verl-agent 20bd331, recipe/GraphGPO/core_graph.py';

/** The trainer has computed the returns on another graph, by other rules; the batch says what it should have been. */
function returnsOn(batch: Batch, changes: Partial<Transitions> = {}, rule: object = {}): Batch {
  const { group, observation, nextObservation, actionValid, estimator } = batch;
  const graph = { group, observation: observation!, next: nextObservation!, ...changes };
  const stated = { distance: 'absolute', goalReward: 10, ...estimator, ...rule } as never;
  return withReturns(batch, goalReturns(goalDistances(graph), stated, actionValid));
}

const isLast = ({ trajectory }: Batch, row: number): boolean => trajectory[row + 1] !== trajectory[row];

/** The next observations with those of some rows replaced. */
function nextWith(batch: Batch, change: (id: number, row: number) => number): Int32Array {
  return batch.nextObservation!.map(change);
}

function bug(id: string, what: string, plant: (clean: Batch) => Batch, base = BASE): Mutant {
  return { id: `graph-${id}`, thread: CODE, what, base, plant };
}

export const GRAPH_MUTANTS: readonly Mutant[] = [
  bug('gamma', 'the decay is the discount 0.95', (b) => returnsOn(b, {}, { gamma: 0.95 })),
  bug('progress', 'normalize_distance is on and not stated', (b) =>
    returnsOn(b, {}, { distance: 'progress' }),
  ),
  bug('with-cost', 'the exponent has the cost of the step, as in the paper', (b) =>
    returnsOn(b, {}, { distance: 'with-cost' }),
  ),
  bug('goal-reward', 'the goal counts 1 instead of 10', (b) => returnsOn(b, {}, { goalReward: 1 })),
  bug(
    'unreachable',
    'states without a way to the goal count as the farthest, not one step farther',
    (b) => {
      const { group, observation, nextObservation, actionValid, estimator } = b;
      const { reaches, reachesFrom, to, from } = goalDistances({
        group,
        observation: observation!,
        next: nextObservation!,
      });
      const nearer = to.map((steps, row) => steps - (reaches[row] === 1 ? 0 : 1));
      const rule = { distance: 'absolute', goalReward: 10, ...estimator } as const;
      return withReturns(b, goalReturns({ reaches, reachesFrom, from, to: nearer }, rule, actionValid));
    },
    'graphgpo-worked',
  ),
  bug('no-penalty', 'the penalty of invalid actions does not reach the returns', (b) =>
    returnsOn(b, {}, { invalidActionPenalty: 0 }),
  ),
  bug('failures-succeed', 'every trajectory ends at the goal', (b) =>
    returnsOn(b, { next: nextWith(b, (id, row) => (isLast(b, row) ? GOAL : id)) }),
  ),
  bug('goal-lost', 'one success does not end at the goal', (b) => {
    const lost = b.nextObservation!.indexOf(GOAL);
    return returnsOn(b, { next: nextWith(b, (id, row) => (row === lost ? b.observation![row]! : id)) });
  }),
  bug('one-graph', 'the states of all groups are one graph', (b) =>
    returnsOn(b, { group: b.group.map(() => 0) }),
  ),
  bug('graph-per-trajectory', 'each trajectory is a graph of its own', (b) =>
    returnsOn(b, { group: b.trajectory }),
  ),
  bug('successes-only', 'failed trajectories are not in the graph', (b) => {
    const wins = new Set([...b.trajectory].filter((_, row) => b.nextObservation![row] === GOAL));
    const apart = b.group.map((g, row) => (wins.has(b.trajectory[row]!) ? g : g + b.groupNames.length));
    return returnsOn(b, { group: apart });
  }),
  bug('shuffled-next', 'each row has the next observation of the row before it', (b) =>
    returnsOn(b, { next: nextWith(b, (_, row) => b.nextObservation!.at(row - 1)!) }),
  ),
  bug('merged', 'two states are one node, and merging is not stated', (b) => {
    const merge = (id: number): number => (id === 1 ? 0 : id);
    return returnsOn(b, { observation: b.observation!.map(merge), next: nextWith(b, merge) });
  }),
  bug('reported-next', 'the recorded next observations are those of other rows', (b) => ({
    ...b,
    nextObservation: nextWith(b, (_, row) => b.nextObservation!.at(row - 1)!),
  })),
  bug('discounted', 'the returns are the discounted rewards, as of GiGPO', (b) =>
    withReturns(b, stepReturns({ ...b, reward: b.reward! }, b.estimator)),
  ),
  bug('clusters-of-next', 'rows are compared that lead to one state, not that start in one', (b) => {
    const next = b.nextObservation!.map((id) => (id === GOAL ? b.dictionary!.count : id));
    return { ...b, reportedAdvantage: reportBy({ ...b, observation: next }).reportedAdvantage! };
  }),
  bug('population', 'the population deviation', (b) => reportBy(b, { deviation: 'population' })),
  bug('no-episode', 'the episode term is missing', (b) => reportBy(b, { episodeAdvantageWeight: 0 })),
];
