/** Positions from 0 to 1 of what an explanation says about a value: all on one scale. */
export interface IntervalScale {
  low: number;
  high: number;
  truth: number;
  reported: number | null;
  /** How many widths of the interval the reported value lies outside of it; 0 inside. */
  widthsOff: number;
}

/** The scale holds everything with a margin; undefined if there is no interval. */
export function intervalScale(input: {
  interval: { low: number; high: number } | null;
  truth: number | null;
  reported: number | null;
}): IntervalScale | undefined {
  const { interval, truth, reported } = input;
  if (interval === null || truth === null) return undefined;
  const { low, high } = interval;
  const values = [low, high, truth, ...(reported === null ? [] : [reported])];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const margin = (most - least) * 0.12 || Math.max(Math.abs(most) * 1e-7, 1e-12);
  const place = (x: number) => (x - least + margin) / (most - least + 2 * margin);
  const off = reported === null ? 0 : Math.max(low - reported, reported - high, 0);
  return {
    low: place(low),
    high: place(high),
    truth: place(truth),
    reported: reported === null ? null : place(reported),
    widthsOff: off === 0 ? 0 : high > low ? off / (high - low) : Number.POSITIVE_INFINITY,
  };
}
