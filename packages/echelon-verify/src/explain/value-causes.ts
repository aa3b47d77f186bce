/**
 * Faults that no parameter of an estimator describes: each as the column of advantages that it would give. They are tried on
 * rows that are wrong, and need more evidence than a variant of the formula: few rewards repeat themselves.
 */

import { significant } from 'command-kit/number';
import { present } from '../base/present.ts';
import type { Batch } from '../format/batch.ts';
import { isPerToken } from '../format/batch.ts';

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
  { text: 'the advantages are the rewards themselves', values: rawRewards },
  { text: 'the advantages were normalised twice', values: normalisedTwice },
  { text: 'the advantages were whitened over the batch once more', values: ({ own }) => whitened(own) },
  {
    text: 'the advantages were whitened over the tokens of the batch, in which long responses count more',
    values: whitenedByTokens,
  },
  { text: 'padding was counted as response tokens', values: withPadding },
  { text: 'the advantages were clipped', values: clipped },
];

/** Faults with a number that is solved for, each with its text. */
export function solvedCauses(input: CauseInput): { text: string; values: Float64Array }[] {
  return [...groupedByPosition(input), ...scaled(input)];
}

/** Groups of another size than theirs that positions give: consecutive rows, or rows at equal distances. */
function groupedByPosition({ batch, estimated }: CauseInput): { text: string; values: Float64Array }[] {
  if (isPerToken(batch)) return [];
  const sizes = new Int32Array(batch.groupNames.length);
  for (const g of batch.group) sizes[g]! += 1;
  const groups = batch.groupNames.length;
  const tried = [...new Set(sizes)].slice(0, MAX_SIZES).map((size) => ({
    text: `the groups were cut by position, every ${size} rows, so that rows of different prompts were compared`,
    of: (row: number) => Math.floor(row / size),
  }));
  const strided = {
    text: `each group was made of every ${groups}th row, so that rows of different prompts were compared`,
    of: (row: number) => row % groups,
  };
  return [...tried, strided].flatMap(({ text, of }) => {
    const group = batch.group.map((_, row) => of(row));
    const groupNames = Array.from({ length: Math.max(...group) + 1 }, (_, at) => `group ${at}`);
    const values = groupNames.length === 1 ? undefined : estimated({ ...batch, group, groupNames });
    return values === undefined ? [] : [{ text, values }];
  });
}

/** A factor nearer to 1 may be the arithmetic’s. */
const MIN_FACTOR_OFF = 1e-4;

/** Sizes of groups that are tried. */
const MAX_SIZES = 8;

/** One factor of all advantages: that of the median row. In one group, any other deviation is such a factor. */
function scaled({ batch, own, reported }: CauseInput): { text: string; values: Float64Array }[] {
  if (batch.groupNames.length < 2) return [];
  const factors = [...own.keys()].flatMap((at) => {
    const factor = reported[at]! / own[at]!;
    return Number.isFinite(factor) && factor !== 0 ? [factor] : [];
  });
  const factor = factors.toSorted((a, b) => a - b)[factors.length >> 1];
  if (factor === undefined || Math.abs(Math.abs(factor) - 1) < MIN_FACTOR_OFF) return [];
  const text = `every advantage is ${significant(factor, 6)} times what the formula gives`;
  return [{ text, values: own.map((x) => factor * x) }];
}

function rawRewards({ batch }: CauseInput): Float64Array | undefined {
  return isPerToken(batch) ? undefined : (batch.tokenLevelRewardSum ?? batch.reportedStepReward);
}

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

function whitened(own: Float64Array, weightOf: (at: number) => number = () => 1): Float64Array {
  const total = own.reduce((sum, _, at) => sum + weightOf(at), 0);
  const mean = own.reduce((sum, x, at) => sum + weightOf(at) * x, 0) / total;
  const squares = own.reduce((sum, x, at) => sum + weightOf(at) * (x - mean) ** 2, 0);
  const deviation = Math.sqrt(squares / Math.max(1, total - 1));
  return own.map((x) => (x - mean) / (deviation + 1e-8));
}

function whitenedByTokens({ batch, own }: CauseInput): Float64Array | undefined {
  const { responseLength } = batch;
  if (responseLength === undefined || isPerToken(batch)) return undefined;
  return whitened(own, (row) => responseLength[row]!);
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
