import type { Item } from './items.ts';
import type { Time } from './times.ts';

/** What the machine offers to the tests. */
export interface Capacity {
  readonly cores: number;
  /** The most items at a time. */
  readonly items: number;
}

/** The share of a core that an item uses while it runs. */
export const loadOf = ({ wall, cpu }: Time): number => Math.min(1, cpu / Math.max(wall, 0.1));

/**
 * The next item to start: the longest of `waiting` for which the running ones leave enough of the cores; the longest if
 * nothing runs; undefined if none fits now. `waiting` has the longest first.
 */
export function nextItem(
  waiting: readonly Item[],
  running: readonly Item[],
  { timeOf, capacity }: { timeOf: (item: Item) => Time; capacity: Capacity },
): Item | undefined {
  if (running.length === 0) return waiting[0];
  if (running.length >= capacity.items) return undefined;
  const free = capacity.cores - running.reduce((sum, item) => sum + loadOf(timeOf(item)), 0);
  return waiting.find((item) => loadOf(timeOf(item)) <= free);
}

/** The longest first. */
export const byTime = (items: readonly Item[], timeOf: (item: Item) => Time): Item[] =>
  items.toSorted((a, b) => timeOf(b).wall - timeOf(a).wall || a.name.localeCompare(b.name));
