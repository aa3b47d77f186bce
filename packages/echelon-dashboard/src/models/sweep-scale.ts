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
