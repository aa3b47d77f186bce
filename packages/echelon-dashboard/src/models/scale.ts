/** Positions from 0 to 1 of what an explanation says about a value: all on one scale. */
interface IntervalScale {
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

/** The mean of a combination, with its confidence interval. */
interface Statistics {
  mean: number | null;
  interval: { low: number; high: number } | null;
}

/** The least and the greatest of all means and intervals; undefined if there is none. */
export function rangeOf(all: readonly (Statistics | undefined)[]): [number, number] | undefined {
  const values = all.flatMap((one) =>
    one?.mean === null || one === undefined
      ? []
      : [one.mean, one.interval?.low ?? one.mean, one.interval?.high ?? one.mean],
  );
  return values.length === 0 ? undefined : [Math.min(...values), Math.max(...values)];
}

/** The place of a mean and its interval in the range, from 0 to 1. */
export function intervalOn({ mean, interval }: Statistics, [least, most]: [number, number]) {
  const place = (x: number) => (most > least ? (x - least) / (most - least) : 0.5);
  const at = place(mean ?? least);
  return { from: interval ? place(interval.low) : at, at, to: interval ? place(interval.high) : at };
}
