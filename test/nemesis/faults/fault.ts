import type { World } from '../world.ts';

/** A kind of fault of a world. */
export interface Fault {
  /** What it happens to, and how. */
  readonly kind: string;
  /** Nothing can be recorded until it is over: times count from its end. Otherwise they count from its beginning. */
  readonly outage: boolean;
  /** What this machine lacks for it; such a fault is omitted. */
  missing?(world: World): string | undefined;
  /** Returns when the fault is over and the process that it happened to answers again. */
  strike(world: World, random: () => number): Promise<void>;
}

/** A random whole number from `low` to below `high`. */
export const between = (random: () => number, low: number, high: number): number =>
  low + Math.floor(random() * (high - low));

/** A random one of `items`, which are not empty. */
export const pick = <T>(random: () => number, items: readonly T[]): T =>
  items[between(random, 0, items.length)]!;
