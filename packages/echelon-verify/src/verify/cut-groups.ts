/**
 * Whether a dump holds only a part of each group, such as the best and the worst response. Evidence, not proof: it decides only if
 * nothing states how many rows a group has.
 */

import { type Batch, isPerToken } from '../format/batch.ts';
import { estimate } from '../identify/estimate.ts';

/** Relative error of the line through rewards and advantages, beside float32. */
const TOLERANCE = 1e-3;

/** The line A = (r − mean) / deviation that the rows of a group lie on. */
interface Line {
  readonly mean: number;
  readonly deviation: number;
}

/**
 * True if the advantages of each group grow with its rewards along one line, which is 0 elsewhere than the estimator is for the rows
 * recorded, and the lines of the groups differ: then each group was compared with rows that are not in the dump. One line for all groups is a mean
 * over the batch, and no cut. Neither are lines that are 0 at the mean of all rows recorded.
 */
export function lookCut(batch: Batch): boolean {
  const { group, groupNames, tokenLevelRewardSum: reward, reportedAdvantage: reported } = batch;
  const { params } = batch.estimator;
  // With another baseline a wrong deviation moves where the line is 0.
  const isMean = 'baseline' in params && params.baseline === 'group';
  if (reward === undefined || reported === undefined || !isMean || isPerToken(batch)) return false;
  const { advantage } = estimate(batch);
  const members: number[][] = groupNames.map(() => []);
  group.forEach((id, row) => void members[id]!.push(row));
  const lines: Line[] = [];
  let off = 0;
  for (const rows of members) {
    if (rows.every((row) => reward[row] === reward[rows[0]!])) continue;
    const line = lineThrough(rows.map((row) => [reward[row]!, reported[row]!]));
    const own = lineThrough(rows.map((row) => [reward[row]!, advantage[row]!]));
    if (line === undefined || own === undefined) return false;
    lines.push(line);
    if (Math.abs(own.mean - line.mean) > TOLERANCE * line.deviation) off++;
  }
  const mean = reward.reduce((sum, x) => sum + x, 0) / reward.length;
  const isOne = lines.every((line) => isNear(line, lines[0]!) || isZeroAt(line, mean));
  return lines.length > 1 && off === lines.length && !isOne;
}

const isZeroAt = ({ mean, deviation }: Line, reward: number): boolean =>
  Math.abs(mean - reward) <= TOLERANCE * deviation;

function lineThrough(points: readonly (readonly [number, number])[]): Line | undefined {
  const [low, high] = [points.reduce(least), points.reduce(most)];
  const deviation = (high[0] - low[0]) / (high[1] - low[1]);
  if (!(deviation > 0 && Number.isFinite(deviation))) return undefined;
  const mean = low[0] - low[1] * deviation;
  const isOn = points.every(([reward, advantage]) => {
    const expected = (reward - mean) / deviation;
    return Math.abs(advantage - expected) <= TOLERANCE * Math.max(1, Math.abs(expected));
  });
  return isOn ? { mean, deviation } : undefined;
}

type Point = readonly [number, number];
const least = (a: Point, b: Point): Point => (b[0] < a[0] ? b : a);
const most = (a: Point, b: Point): Point => (b[0] > a[0] ? b : a);

function isNear(a: Line, b: Line): boolean {
  const size = Math.abs(a.deviation);
  return (
    Math.abs(a.mean - b.mean) <= TOLERANCE * size && Math.abs(a.deviation - b.deviation) <= TOLERANCE * size
  );
}
