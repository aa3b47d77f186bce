/** Values that look rounded to bfloat16 although the batch states another precision. */

import { counted } from '../../core/plural.ts';
import { isBfloat16, lowestBitExponent } from '../bounds/arithmetic.ts';
import type { Batch } from '../format/batch.ts';
import type { Finding } from '../report.ts';
import { finding } from './findings.ts';

/** Rows whose reported advantage is the rounded true one, and no other number, from which on it is no coincidence. */
const MIN_ROWS = 2;

/** Findings about rewards and, if the true advantages are known, about reported advantages. Linear in the rows. */
export function bfloat16Findings(batch: Batch, truth: Float64Array | undefined): Finding[] {
  if (batch.estimator.precision.startsWith('bfloat16')) return [];
  return [...advantageFinding(batch, truth), ...rewardFinding(batch)];
}

/** True if all values are bfloat16 numbers, and some have so many digits that they are no counts, shares or sums of such. */
export function looksRounded(values: Float64Array): boolean {
  return allBfloat16(values) && values.some(hasAllDigits);
}

function allBfloat16(values: Float64Array): boolean {
  for (let row = 0; row < values.length; row++) if (!isBfloat16(values[row]!)) return false;
  return true;
}

function advantageFinding({ reportedAdvantage }: Batch, truth: Float64Array | undefined): Finding[] {
  if (reportedAdvantage === undefined || truth === undefined || !allBfloat16(reportedAdvantage)) return [];
  const rounded = [...reportedAdvantage.keys()].filter((row) =>
    isRounded(reportedAdvantage[row]!, truth[row]!),
  );
  if (rounded.length < MIN_ROWS) return [];
  const text = `All reported advantages look rounded to bfloat16: ${counted(rounded.length, 'row')}, such as ${reportedAdvantage[rounded[0]!]} for ${truth[rounded[0]!]}.`;
  return [finding('looks-bfloat16', text, rounded)];
}

function rewardFinding({ reward, tokenLevelRewardSum, rewards = [] }: Batch): Finding[] {
  const columns = [...rewards.map(({ value }) => value), tokenLevelRewardSum, reward];
  const column = columns.find((values) => values !== undefined && looksRounded(values));
  if (column === undefined) return [];
  const text = `All rewards look rounded to bfloat16, such as ${column.find(hasAllDigits)}.`;
  return [finding('looks-bfloat16', text)];
}

/** True for a number with 7 or 8 significant bits whose last bit is below 1/256: no number of cases is a part of it. */
function hasAllDigits(x: number): boolean {
  if (x === 0 || !Number.isFinite(x)) return false;
  const last = lowestBitExponent(x);
  return last < -8 && Math.floor(Math.log2(Math.abs(x))) - last >= 6;
}

/** True if the reported value is a neighbour of the true one in bfloat16, and off by more than float32 rounds. */
function isRounded(reported: number, truth: number): boolean {
  const off = Math.abs(reported - truth);
  return off > 1e-5 * Math.abs(truth) && off <= 2 ** -7 * Math.abs(truth);
}
