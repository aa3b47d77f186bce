/**
 * Faults that no parameter of an estimator describes: each as the column of advantages that it would give. They are tried on
 * rows that are wrong, and need more evidence than a variant of the formula: few rewards repeat themselves.
 */

import type { Batch } from '../format/batch.ts';
import { isPerToken } from '../format/batch.ts';
import { present } from '../present.ts';

/** A fault, and the advantages of a trainer that has it. */
export interface ValueCause {
  readonly text: string;
  /** Undefined if the batch lacks what the fault is about. `estimated`: the estimator on a changed batch. */
  values(input: CauseInput): Float64Array | undefined;
}

/** What faults are made from. */
export interface CauseInput {
  readonly batch: Batch;
  /** The batch of the step before, if it has the same number of rows. */
  readonly previous: Batch | undefined;
  /** What the stated estimator gives: one value per row, or per token. */
  readonly own: Float64Array;
  readonly reported: Float64Array;
  /** The stated estimator on another batch; undefined if it lacks a column. */
  estimated(batch: Batch): Float64Array | undefined;
}

/** The faults, those that change least first. */
export const VALUE_CAUSES: readonly ValueCause[] = [
  { text: 'the sign was flipped', values: ({ own }) => own.map((x) => -x) },
  { text: 'each row has the advantage of the row before it', values: ({ own }) => shifted(own, -1) },
  { text: 'each row has the advantage of the row after it', values: ({ own }) => shifted(own, 1) },
  { text: 'the rewards are those of the step before', values: withRewardsBefore },
  {
    text: 'the mean and deviation were taken over halves of the groups',
    values: ({ batch, estimated }) => estimated(inHalves(batch)),
  },
  { text: 'the advantages were normalised twice', values: normalisedTwice },
  { text: 'the advantages were whitened over the batch once more', values: ({ own }) => whitened(own) },
  { text: 'padding was counted as response tokens', values: withPadding },
  { text: 'the advantages were clipped', values: clipped },
];

function shifted(own: Float64Array, by: number): Float64Array {
  return own.map((_, row) => own[(row + by + own.length) % own.length]!);
}

function withRewardsBefore({ batch, previous, estimated }: CauseInput): Float64Array | undefined {
  if (previous === undefined || previous.rows !== batch.rows || isPerToken(batch)) return undefined;
  const { tokenLevelRewardSum, rewards, reward, reportedStepReward } = previous;
  return estimated({ ...batch, ...present({ tokenLevelRewardSum, rewards, reward, reportedStepReward }) });
}

/** Each group split after half of its rows. */
function inHalves(batch: Batch): Batch {
  const size = new Int32Array(batch.groupNames.length);
  for (const g of batch.group) size[g]! += 1;
  const seen = new Int32Array(size.length);
  const group = batch.group.map((g) => 2 * g + (2 * seen[g]!++ < size[g]! ? 0 : 1));
  return { ...batch, group, groupNames: batch.groupNames.flatMap((name) => [`${name}/1`, `${name}/2`]) };
}

/** The estimator once more, with the advantages in the place of the rewards. */
function normalisedTwice({ batch, own, estimated }: CauseInput): Float64Array | undefined {
  if (own.length !== batch.rows || isPerToken(batch)) return undefined;
  const { scoreError: _error, rewards: _rewards, ...rest } = batch;
  return estimated({ ...rest, tokenLevelRewardSum: own, reportedStepReward: own });
}

function whitened(own: Float64Array): Float64Array {
  const mean = own.reduce((sum, x) => sum + x, 0) / own.length;
  const squares = own.reduce((sum, x) => sum + (x - mean) ** 2, 0);
  const deviation = Math.sqrt(squares / Math.max(1, own.length - 1));
  return own.map((x) => (x - mean) / (deviation + 1e-8));
}

/** All tokens of the longest response in every row, or every token in the mask. */
function withPadding({ batch, estimated }: CauseInput): Float64Array | undefined {
  const { responseLength, tokens } = batch;
  if (isPerToken(batch)) {
    const mask = tokens?.mask?.map(() => 1);
    return tokens && mask && estimated({ ...batch, tokens: { ...tokens, mask } });
  }
  if (responseLength === undefined) return undefined;
  return estimated({ ...batch, responseLength: responseLength.map(() => Math.max(...responseLength)) });
}

/** Nothing lies beyond the least and the greatest reported value, and what would is there. */
function clipped({ own, reported }: CauseInput): Float64Array {
  const low = reported.reduce((least, x) => Math.min(least, x), 0);
  const high = reported.reduce((most, x) => Math.max(most, x), 0);
  return own.map((x) => Math.min(high, Math.max(low, x)));
}
