import type { BatchRows } from 'echelon-client/calls';

/** The steps of a trajectory, or the rows of a state, as they are read one by one. */
export interface Step {
  row: number;
  step: number;
  trajectory: string;
  group: string;
  /** Null: the batch has no observations; the digest if it has no texts of them. Likewise the action. */
  observation: string | null;
  action: string | null;
  outcome: BatchRows['outcome'][number];
  stepReturn: number | null;
  reported: number | null;
  true: number | null;
}

/** The rows of an answer one by one, in the order of the answer. */
export function stepsOf(rows: BatchRows): Step[] {
  const text = (texts: readonly string[] | null, index: readonly number[] | null, at: number) =>
    texts?.[index?.[at] ?? -1] ?? null;
  return rows.row.map((row, at) => ({
    row,
    step: rows.step[at]!,
    trajectory: rows.trajectories[rows.trajectory[at]!]!,
    group: rows.groups[rows.group[at]!]!,
    observation: text(rows.observations, rows.observation, at),
    action: text(rows.actions, rows.action, at),
    outcome: rows.outcome[at]!,
    stepReturn: rows.stepReturn[at] ?? null,
    reported: rows.reported[at] ?? null,
    true: rows.true[at] ?? null,
  }));
}

const DIGEST = /^[0-9a-f]{32}$/;

/** True if the batch has no texts of observations: digests stand for them. */
export function isDigestsOnly({ observations }: Pick<BatchRows, 'observations'>): boolean {
  return observations?.every((one) => DIGEST.test(one)) ?? true;
}

/** The trajectories of the group of this one, in the order of the batch, without repetition. */
export function siblingsOf(rows: BatchRows, trajectory: string): string[] {
  const at = rows.trajectory.indexOf(rows.trajectories.indexOf(trajectory));
  if (at < 0) return [];
  const own = rows.trajectory.filter((_one, other) => rows.group[other] === rows.group[at]);
  return [...new Set(own)].map((index) => rows.trajectories[index]!);
}

/** What was tried in a state: an action, its rows, and what they got. */
export interface Tried {
  action: string | null;
  /** The greatest return first. */
  members: Step[];
  /** Means over the members with a value; null if none has one. */
  meanReturn: number | null;
  meanAdvantage: number | null;
}

/** The rows of a state by action, the best mean return first. */
export function triedIn(steps: readonly Step[]): Tried[] {
  const byAction = Map.groupBy(steps, ({ action }) => action);
  return [...byAction]
    .map(([action, members]) => ({
      action,
      members: members.toSorted((a, b) => least(b.stepReturn) - least(a.stepReturn) || a.row - b.row),
      meanReturn: mean(members.map(({ stepReturn }) => stepReturn)),
      meanAdvantage: mean(members.map(({ reported }) => reported)),
    }))
    .sort((a, b) => least(b.meanReturn) - least(a.meanReturn));
}

// The greatest negative number and not -Infinity, whose difference to itself is NaN.
const least = (x: number | null) => x ?? -Number.MAX_VALUE;

function mean(values: readonly (number | null)[]): number | null {
  const known = values.filter((one) => one !== null);
  return known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0) / known.length;
}

/** The scale on which the bars of these advantages are comparable: the greatest size. */
export function scaleOf(steps: readonly Step[]): number {
  return Math.max(1e-12, ...steps.map((one) => Math.abs(one.reported ?? one.true ?? 0)));
}
