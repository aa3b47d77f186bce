import { between } from './fault.ts';

const HOUR_MS = 3_600_000;

/** How far a clock is after or before the others: up to an hour, or not at all. */
export function anyShift(random: () => number): number {
  const way = between(random, -1, 2);
  return way * (random() < 0.5 ? HOUR_MS : between(random, 1, HOUR_MS));
}
