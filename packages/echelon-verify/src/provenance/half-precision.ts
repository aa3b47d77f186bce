/** Values that look rounded to a format of 16 bits although the batch states another precision. */

import { counted } from 'command-kit/plural';
import { type HalfPrecision, hasDigitsOf, lowestBitExponent } from '../arithmetic/arithmetic.ts';
import type { Batch } from '../format/batch.ts';
import { finding } from '../report/findings.ts';
import type { Finding } from '../report/report.ts';

/** Rows whose reported advantage is the rounded true one, and no other number, from which on it is no coincidence. */
const MIN_ROWS = 2;

/** The formats, the one with fewer digits first: all its numbers have the digits of the other. */
const FORMATS: readonly HalfPrecision[] = ['bfloat16', 'float16'];

/**
 * `digits`: significant bits of a number, without the last one, from which on it fills the format. `last`: no count, share or
 * sum of such has a bit below this exponent. `neighbour`: relative distance of neighbours.
 */
const SHAPES = {
  bfloat16: { digits: 6, last: -8, neighbour: 2 ** -7 },
  float16: { digits: 9, last: -10, neighbour: 2 ** -10 },
} as const;

/** Findings about rewards and, if the true advantages are known, about reported advantages. Linear in the rows. */
export function halfPrecisionFindings(batch: Batch, truth: Float64Array | undefined): Finding[] {
  if (statesHalfPrecision(batch)) return [];
  return [...advantageFinding(batch, truth), ...rewardFinding(batch)];
}

/** True if the batch states a precision of 16 bits. */
export function statesHalfPrecision({ estimator: { precision } }: Pick<Batch, 'estimator'>): boolean {
  return FORMATS.some((format) => precision.startsWith(format));
}

/** The format if all values are its numbers, and some have so many digits that they are no counts, shares or sums of such. */
export function looksRounded(values: Float64Array): HalfPrecision | undefined {
  const format = commonFormat(values);
  return format !== undefined && values.some((x) => hasAllDigits(x, format)) ? format : undefined;
}

/** The first format that all values have the digits of. */
function commonFormat(values: Float64Array): HalfPrecision | undefined {
  return FORMATS.find((format) => values.every((x) => hasDigitsOf(x, format)));
}

function advantageFinding({ reportedAdvantage }: Batch, truth: Float64Array | undefined): Finding[] {
  const format = reportedAdvantage && commonFormat(reportedAdvantage);
  if (reportedAdvantage === undefined || truth === undefined || format === undefined) return [];
  const rounded = [...reportedAdvantage.keys()].filter((row) =>
    isRounded(reportedAdvantage[row]!, truth[row]!, format),
  );
  if (rounded.length < MIN_ROWS) return [];
  const text = `All reported advantages look rounded to ${format}: ${counted(rounded.length, 'row')}, such as ${reportedAdvantage[rounded[0]!]} for ${truth[rounded[0]!]}.`;
  return [looks(format, text, rounded)];
}

function rewardFinding({ reward, tokenLevelRewardSum, rewards = [] }: Batch): Finding[] {
  for (const values of [...rewards.map(({ value }) => value), tokenLevelRewardSum, reward]) {
    const format = values && looksRounded(values);
    if (values === undefined || format === undefined) continue;
    const example = values.find((x) => hasAllDigits(x, format));
    return [looks(format, `All rewards look rounded to ${format}, such as ${example}.`)];
  }
  return [];
}

function looks(format: HalfPrecision, text: string, rows: readonly number[] = []): Finding {
  return format === 'bfloat16' ? finding('looks-bfloat16', text, rows) : finding('looks-float16', text, rows);
}

/** True for a number that fills the format and whose last bit is part of no usual number of cases. */
function hasAllDigits(x: number, format: HalfPrecision): boolean {
  if (x === 0 || !Number.isFinite(x)) return false;
  const { digits, last } = SHAPES[format];
  const lowest = lowestBitExponent(x);
  return lowest < last && Math.floor(Math.log2(Math.abs(x))) - lowest >= digits;
}

/** True if the reported value is a neighbour of the true one in the format, and off by more than float32 rounds. */
function isRounded(reported: number, truth: number, format: HalfPrecision): boolean {
  const off = Math.abs(reported - truth);
  return off > 1e-5 * Math.abs(truth) && off <= SHAPES[format].neighbour * Math.abs(truth);
}
