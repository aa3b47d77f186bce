import { BatchFormatError } from '../format/format-error.ts';

/** The number that a cell holds; NaN for null, for what is absent and for what is no number. */
export function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint' || typeof value === 'boolean') return Number(value);
  return Number.NaN;
}

/** A text that is equal for equal prompts: a text itself, or a list of messages. */
export function promptKey(value: unknown): string {
  if (typeof value === 'string') return value;
  return (
    JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? Number(part) : part)) ?? ''
  );
}

/**
 * The weighted sum over reward functions in float32, as torch's `nansum` takes it: NaN counts as 0. `error` bounds what the
 * order of summation can change; undefined if nothing.
 */
export function weightedRewards(
  columns: readonly Float64Array[],
  weights: readonly number[] | undefined,
  file: string,
): { sum: Float64Array; error?: Float64Array } {
  if (weights !== undefined && weights.length !== columns.length) {
    const expected = `${columns.length} weights, one for each reward function`;
    throw new BatchFormatError({ code: 'invalid', file, expected, found: `${weights.length}` });
  }
  const rows = columns[0]?.length ?? 0;
  const sum = new Float64Array(rows);
  const error = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    const terms = columns
      .map((column, i) => Math.fround(Math.fround(weights?.[i] ?? 1) * Math.fround(column[row]!)))
      .filter((term) => !Number.isNaN(term) && term !== 0);
    const total = terms.reduce((a, b) => a + b, 0);
    sum[row] = Math.fround(total);
    error[row] =
      Number.isFinite(total) && orderMatters(terms)
        ? terms.length * 2 ** -24 * terms.reduce((a, b) => a + Math.abs(b), 0)
        : 0;
  }
  return error.every((e) => e === 0) ? { sum } : { sum, error };
}

/** False if every partial sum is a float32 number, or if there is one sum only. */
function orderMatters(terms: readonly number[]): boolean {
  if (terms.length < 3) return false;
  const size = terms.reduce((a, b) => a + Math.abs(b), 0);
  return !(size < 2 ** 12 && terms.every((term) => Number.isInteger(term * 2 ** 12)));
}
