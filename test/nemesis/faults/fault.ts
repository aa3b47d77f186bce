import type { World } from '../world.ts';

/** A kind of fault. */
export interface Fault {
  /** What it happens to, and how. */
  readonly kind: string;
  /** Nothing can be recorded until it is over: times count from its end. Otherwise they count from its beginning. */
  readonly outage: boolean;
  /** Returns when the fault is over and the process that it happened to answers again. */
  strike(world: World, random: () => number): Promise<void>;
}

/** A random whole number from `low` to below `high`. */
export const between = (random: () => number, low: number, high: number): number =>
  low + Math.floor(random() * (high - low));
