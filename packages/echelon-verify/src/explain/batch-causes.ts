/** Faults that take a statistic over the whole batch, while the estimator takes it over each group. */

import { significant } from 'command-kit/number';
import { isPerToken } from '../format/batch.ts';
import type { CauseInput } from './value-causes.ts';

interface Fault {
  readonly text: string;
  readonly values: Float64Array;
}

/** A divisor this near to a deviation of the batch, relatively, is that deviation with an ε or another count. */
const NEAR = 1e-3;

/** The faults, each with the advantages that it would give. Empty for one group, in which no statistic differs. */
export function wholeBatchCauses(input: CauseInput): Fault[] {
  const { batch } = input;
  const score = batch.tokenLevelRewardSum ?? batch.reportedStepReward;
  if (isPerToken(batch) || batch.groupNames.length < 2) return [];
  const whole = { ...batch, group: batch.group.map(() => 0), groupNames: ['all rows'] };
  return [
    ...(score === undefined ? [] : [meanAlone(score)]),
    ...fault(
      'the mean and deviation were taken over the whole batch, not over each group',
      input.estimated(whole),
    ),
    ...(score === undefined ? [] : [...lineOfBatch(input, score), ...mixed(input, score)]),
  ];
}

const fault = (text: string, values: Float64Array | undefined): Fault[] =>
  values === undefined ? [] : [{ text, values }];

function meanAlone(score: Float64Array): Fault {
  const mean = meanOf(score);
  return {
    text: 'the mean was taken over the whole batch, not over each group, and nothing was divided',
    values: score.map((x) => x - mean),
  };
}

/** (score − mean of the batch) / D: D is solved for from the rows of the least and the greatest score. */
function lineOfBatch({ reported }: CauseInput, score: Float64Array): Fault[] {
  const rows = [...score.keys()].filter((row) => Number.isFinite(reported[row]));
  if (rows.length === 0) return [];
  const low = rows.reduce((at, row) => (score[row]! < score[at]! ? row : at));
  const high = rows.reduce((at, row) => (score[row]! > score[at]! ? row : at));
  const divisor = (score[high]! - score[low]!) / (reported[high]! - reported[low]!);
  if (!(Number.isFinite(divisor) && divisor > 0)) return [];
  const mean = meanOf(score);
  const text = isDeviation(divisor, score)
    ? 'the mean and deviation were taken over the whole batch, not over each group'
    : `the mean was taken over the whole batch, not over each group, and the rest was divided by ${significant(divisor, 6)}`;
  return fault(
    text,
    score.map((x) => (x - mean) / divisor),
  );
}

/** One statistic of the batch and one of the group. */
function mixed({ batch, own, reported }: CauseInput, score: Float64Array): Fault[] {
  const means = meansOfGroups(batch.group, score, batch.groupNames.length);
  const centered = score.map((x, row) => x - means[batch.group[row]!]!);
  const mean = meanOf(score);
  const divisors = divisorsOfGroups(batch.group, centered, own, batch.groupNames.length);
  const ofGroup = score.map((x, row) => (x - mean) / divisors[batch.group[row]!]!);
  const divisor = medianOf([...centered.keys()].map((row) => centered[row]! / reported[row]!));
  return [
    {
      text: 'the mean was taken over the whole batch, the deviation over each group',
      values: ofGroup,
    },
    ...(divisor !== undefined && isDeviation(divisor, score)
      ? fault(
          'the deviation was taken over the whole batch, not over each group',
          centered.map((x) => x / divisor),
        )
      : []),
  ];
}

/** What the estimator divides by in each group; NaN if all of its rows are 0. */
function divisorsOfGroups(
  group: Int32Array,
  centered: Float64Array,
  own: Float64Array,
  groups: number,
): Float64Array {
  const divisors = new Float64Array(groups).fill(Number.NaN);
  const largest = new Float64Array(groups);
  group.forEach((g, row) => {
    const size = Math.abs(own[row]!);
    if (!(size > largest[g]!)) return;
    largest[g] = size;
    divisors[g] = centered[row]! / own[row]!;
  });
  return divisors;
}

function meansOfGroups(group: Int32Array, score: Float64Array, groups: number): Float64Array {
  const [sum, count] = [new Float64Array(groups), new Float64Array(groups)];
  group.forEach((g, row) => {
    sum[g]! += score[row]!;
    count[g]! += 1;
  });
  return sum.map((x, g) => x / count[g]!);
}

const meanOf = (values: Float64Array): number => values.reduce((sum, x) => sum + x, 0) / values.length;

function medianOf(values: readonly number[]): number | undefined {
  const finite = values.filter((x) => Number.isFinite(x) && x !== 0).toSorted((a, b) => a - b);
  return finite[finite.length >> 1];
}

/** True for the deviation of the scores, over n or n − 1. */
function isDeviation(divisor: number, score: Float64Array): boolean {
  const mean = meanOf(score);
  const squares = score.reduce((sum, x) => sum + (x - mean) ** 2, 0);
  return [score.length, score.length - 1].some((count) => {
    const deviation = Math.sqrt(squares / count);
    return Math.abs(divisor - deviation) <= NEAR * deviation;
  });
}
