/** `population` divides the sum of squares by n, `sample` by n − 1. */
export type Deviation = 'population' | 'sample';

/**
 * If epsilon keeps the division from blowing up: `added` std + ε, `floor` max(std, ε),
 * `variance-added` √(var + ε), `variance-floor` √max(var, ε).
 */
export type EpsilonPlace = 'added' | 'floor' | 'variance-added' | 'variance-floor';

/** Everything that decides what a centred value is divided by. */
export interface Spread {
  readonly deviation: Deviation;
  readonly epsilon: number;
  readonly epsilonPlace: EpsilonPlace;
}

/** The divisor of a cluster of n ≥ 1 values whose squared distances from their mean add up to `squares`. */
export function divisor(spread: Spread, squares: number, n: number): number {
  const variance = squares / (spread.deviation === 'sample' ? n - 1 : n);
  return epsilonAdded(spread, Math.sqrt(variance), variance);
}

/** A deviation with ε; `variance` is its square. */
export function epsilonAdded(
  { epsilon, epsilonPlace }: Omit<Spread, 'deviation'>,
  deviation: number,
  variance: number,
): number {
  switch (epsilonPlace) {
    case 'added':
      return deviation + epsilon;
    case 'floor':
      return Math.max(deviation, epsilon);
    case 'variance-added':
      return Math.sqrt(variance + epsilon);
    case 'variance-floor':
      return Math.sqrt(Math.max(variance, epsilon));
  }
}
