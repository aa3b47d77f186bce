/** How values of one kind lie. */
interface Spread {
  mean: number | null;
  /** Sample standard deviation (n - 1), in two passes; null below two values. */
  std: number | null;
  n: number;
  min: number | null;
  max: number | null;
  /** 95 % confidence interval of the mean by Student's t, for few values, limited to their range; null below two. */
  interval: { low: number; high: number } | null;
}

/** Where a rate can lie. */
export const RATE = { low: 0, high: 1 } as const;

/**
 * The spread of finite values; null if there are too few. The interval is cut at what `within`
 * says of where the values can lie: so does their mean, so that what is cut off takes nothing from its 95 %. Values that do
 * not lie there, such as a rate in per cent, are none of the kind.
 */
export function spreadOf(values: readonly number[], within?: NonNullable<Spread['interval']>): Spread {
  const n = values.length;
  if (n === 0) return { mean: null, std: null, n, min: null, max: null, interval: null };
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const min = values.reduce((a, b) => Math.min(a, b));
  const max = values.reduce((a, b) => Math.max(a, b));
  if (n < 2) return { mean, std: null, n, min, max, interval: null };
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const std = Math.sqrt(squares / (n - 1));
  const half = (studentQuantile(n - 1) * std) / Math.sqrt(n);
  const interval = { low: mean - half, high: mean + half };
  const holds = within !== undefined && min >= within.low && max <= within.high;
  if (!holds) return { mean, std, n, min, max, interval };
  const cut = { low: Math.max(interval.low, within.low), high: Math.min(interval.high, within.high) };
  return { mean, std, n, min, max, interval: cut };
}

const FEW = [
  12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139,
];
const NORMAL = 1.959963985;

/**
 * The 97.5 % quantile of Student's t with so many degrees of freedom (1 or more), to five decimals: a table for up to
 * ten, beyond that Cornish and Fisher's expansion (Abramowitz and Stegun 26.7.5).
 */
export function studentQuantile(freedom: number): number {
  const known = FEW[freedom - 1];
  if (known !== undefined) return known;
  const z = NORMAL;
  return (
    z +
    (z ** 3 + z) / (4 * freedom) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * freedom ** 3) +
    (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / (92160 * freedom ** 4)
  );
}
