/** The graph of a group: nodes are observations, each row is an edge to its next observation, the goal is a node of its own. */

import { checkLength, idCount } from './sets/steps.ts';

/** The next observation of a step that reached the goal. */
export const GOAL = -1;

/** One edge per row. Nodes never cross groups. */
export interface Transitions {
  readonly group: Int32Array;
  readonly observation: Int32Array;
  /** An observation, or {@link GOAL}. */
  readonly next: Int32Array;
}

/** Distances to the goal in steps, one entry per row. */
export interface GoalDistances {
  /** From the row's observation. */
  readonly from: Int32Array;
  /** From its next observation; 0 for the goal. */
  readonly to: Int32Array;
  /** 1 if the goal can be reached from the next observation. */
  readonly reaches: Uint8Array;
  /** 1 if it can be reached from the row's observation. */
  readonly reachesFrom: Uint8Array;
}

/**
 * Distances to the goal over all edges of the group, from the back. Nodes from which it cannot be reached are one step
 * farther than the farthest of the others, at distance 1 if the group has no success (verl-agent,
 * recipe/GraphGPO/core_graph.py). Linear in the rows. Throws a RangeError on unequal columns.
 */
export function goalDistances({ group, observation, next }: Transitions): GoalDistances {
  const rows = group.length;
  checkLength('observation', observation, rows);
  checkLength('nextObservation', next, rows);
  const groups = idCount('group', group);
  const node = new Map<number, number>();
  const owner: number[] = [];
  const nodeOf = (row: number, id: number): number => {
    const key = id * groups + group[row]!;
    const known = node.get(key);
    if (known !== undefined) return known;
    node.set(key, owner.length);
    return owner.push(group[row]!) - 1;
  };
  const from = observation.map((id, row) => nodeOf(row, id));
  const to = next.map((id, row) => (id === GOAL ? GOAL : nodeOf(row, id)));
  const distance = new Int32Array(owner.length);
  const farthest = new Int32Array(groups);
  const queue: number[] = [];
  const reach = (at: number, steps: number): void => {
    if (distance[at] !== 0) return;
    distance[at] = steps;
    farthest[owner[at]!] = steps;
    queue.push(at);
  };
  // The rows that lead to each node, as linked lists.
  const latest = new Int32Array(owner.length).fill(-1);
  const earlier = new Int32Array(rows);
  for (let row = 0; row < rows; row++) {
    if (to[row] === GOAL) reach(from[row]!, 1);
    else {
      earlier[row] = latest[to[row]!]!;
      latest[to[row]!] = row;
    }
  }
  for (const at of queue)
    for (let row = latest[at]!; row >= 0; row = earlier[row]!) reach(from[row]!, distance[at]! + 1);
  const reaches = Uint8Array.from(to, (at) => (at === GOAL || distance[at]! > 0 ? 1 : 0));
  const reachesFrom = Uint8Array.from(from, (at) => (distance[at]! > 0 ? 1 : 0));
  const stepsFrom = (at: number): number => (at === GOAL ? 0 : distance[at]! || farthest[owner[at]!]! + 1);
  return { from: from.map(stepsFrom), to: to.map(stepsFrom), reaches, reachesFrom };
}

/** Rows along a shortest path to the goal, the given row first. It ends early if the goal cannot be reached. */
export function goalPath(
  { group, observation, next }: Transitions,
  distances: GoalDistances,
  row: number,
): number[] {
  const path = [row];
  for (let at = row; distances.reaches[at] === 1 && next[at] !== GOAL; path.push(at)) {
    const [state, steps] = [next[at], distances.to[at]! - 1];
    at = observation.findIndex(
      (id, other) =>
        id === state &&
        group[other] === group[row] &&
        distances.reaches[other] === 1 &&
        distances.to[other] === steps,
    );
  }
  return path;
}

/** What the exponent of a return is. */
export type GoalDistance = 'absolute' | 'progress' | 'with-cost';

/** How returns follow from distances. */
export interface GoalReturnRule {
  readonly distance: GoalDistance;
  /** The return of a step that reaches the goal. */
  readonly goalReward: number;
  readonly gamma: number;
  readonly invalidActionPenalty: number;
}

/**
 * Step returns from distances, float64, one per row: `goalReward` · γ^d with d the distance of the next observation
 * (`absolute`), the same less the distance of the observation plus 1 (`progress`), or plus 1 (`with-cost`). The penalty is
 * taken off if the action was invalid. The environment's rewards are not used.
 */
export function goalReturns(
  { from, to }: GoalDistances,
  rule: GoalReturnRule,
  actionValid: Uint8Array | undefined,
): Float64Array {
  const { distance, goalReward, gamma, invalidActionPenalty } = rule;
  return Float64Array.from(to, (steps, row) => {
    const exponent =
      distance === 'absolute' ? steps : distance === 'progress' ? steps - from[row]! + 1 : steps + 1;
    const value = goalReward * gamma ** exponent;
    return actionValid?.[row] === 0 ? value - invalidActionPenalty : value;
  });
}
