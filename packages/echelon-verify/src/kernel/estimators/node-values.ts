/** Values of the states of a group: what the episodes that visited a state earned (G²PO, g2po/core_g2po.py). */

import { checkLength, idCount, type StepColumns, statesOf } from '../sets/steps.ts';
import type { DerivedColumn, EnvironmentInput } from './estimator.ts';

/** How values follow from the rewards of episodes. */
export interface NodeValueRule {
  readonly discount: number;
  /** An episode succeeds if its rewards add up to this. It is the value of having succeeded. */
  readonly successReward: number;
  readonly invalidPenalty: number;
  /** Format of the products of discount and reward: float32 rewards give float32 products in numpy 2. */
  readonly valueFormat: 'float64' | 'float32';
}

/** The columns of the two terms of a step. */
export interface NodeColumns {
  /** Value of the state that the step led to, less the penalty of an invalid action. */
  readonly successor: DerivedColumn;
  /** Value of that state less the value of the step's own. */
  readonly gain: DerivedColumn;
}

/**
 * V(state) = mean over the visits to it in the group of γ^(T − t) · R: T steps of the episode, t the visit's from 0, R its reward.
 * A step leads to the state of the next step; the last one to `successReward` if R is that, else to 0. Rows with one position in
 * one trajectory are copies: the first counts. Linear in the rows. Throws a RangeError on unequal columns.
 */
export function nodeColumns(
  steps: StepColumns,
  environment: EnvironmentInput,
  rule: NodeValueRule,
): NodeColumns {
  const { rows } = steps;
  checkLength('reward', environment.reward, rows);
  const episodes = episodesOf(steps, environment.step);
  const node = statesOf(steps);
  const own = valuesOf(node, episodes, environment.reward, rule);
  const other = rule.valueFormat === 'float64' ? 'float32' : 'float64';
  const alternative = valuesOf(node, episodes, environment.reward, { ...rule, valueFormat: other });
  const columns = { successor: emptyColumn(rows), gain: emptyColumn(rows) };
  for (const { rowsOf } of episodes) {
    const succeeds = rewardOf(rowsOf, environment.reward) === rule.successReward;
    rowsOf.forEach((copies, t) => {
      const next = rowsOf[t + 1]?.[0];
      const end = succeeds ? rule.successReward : 0;
      for (const row of copies) {
        const [v, w] = [own, alternative].map(({ value }) => {
          const here = value[node[row]!]!;
          const after = next === undefined ? end : value[node[next]!]!;
          return { after, gain: after - here };
        }) as [Step, Step];
        const error = own.error[node[row]!]! + (next === undefined ? 0 : own.error[node[next]!]!);
        const penalty = environment.actionValid?.[row] === 0 ? rule.invalidPenalty : 0;
        put(columns.successor, row, v.after - penalty, error, w.after - v.after);
        put(columns.gain, row, v.gain, error, w.gain - v.gain);
      }
    });
  }
  return columns;
}

interface Step {
  readonly after: number;
  readonly gain: number;
}

function emptyColumn(rows: number): DerivedColumn {
  return { value: new Float64Array(rows), error: new Float64Array(rows), rounding: new Float64Array(rows) };
}

function put(column: DerivedColumn, row: number, value: number, error: number, off: number): void {
  column.value[row] = value;
  column.error[row] = error + 2 ** -51 * Math.abs(value);
  column.rounding[row] = Math.abs(off);
}

/** For each position of an episode its rows, copies after the first. */
interface Episode {
  readonly rowsOf: number[][];
}

function episodesOf({ trajectory }: StepColumns, step: Int32Array | undefined): Episode[] {
  const episodes = Array.from({ length: idCount('trajectory', trajectory) }, (): number[][] => []);
  trajectory.forEach((t, row) => {
    const own = episodes[t]!;
    const at = step?.[row] ?? own.length;
    if (own[at] === undefined) own[at] = [row];
    else own[at].push(row);
  });
  // A missing position is a finding of its own; the steps around it are then neighbours.
  return episodes.map((rowsOf) => ({ rowsOf: rowsOf.filter((copies) => copies !== undefined) }));
}

/** Rewards add up in float32, as the rollout adds them. */
function rewardOf(rowsOf: readonly (readonly number[])[], reward: Float64Array): number {
  return rowsOf.reduce((sum, [row]) => Math.fround(sum + reward[row!]!), 0);
}

function valuesOf(
  node: Int32Array,
  episodes: readonly Episode[],
  reward: Float64Array,
  { discount, valueFormat }: NodeValueRule,
): { value: Float64Array; error: Float64Array } {
  const nodes = idCount('observation', node);
  const value = new Float64Array(nodes);
  const visits = new Int32Array(nodes);
  const sizes = new Float64Array(nodes);
  for (const { rowsOf } of episodes) {
    const total = rewardOf(rowsOf, reward);
    rowsOf.forEach(([row], t) => {
      const power = discount ** (rowsOf.length - t);
      const term = valueFormat === 'float64' ? power * total : Math.fround(Math.fround(power) * total);
      value[node[row!]!]! += term;
      sizes[node[row!]!]! += Math.abs(term);
      visits[node[row!]!]! += 1;
    });
  }
  // Orders of the sum and powers of other libraries differ by a few units of float64.
  const error = sizes.map((size, at) => (size / visits[at]!) * (visits[at]! + 4) * 2 ** -52);
  return { value: value.map((sum, at) => sum / visits[at]!), error };
}
