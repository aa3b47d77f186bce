/** The classes of experiments, the last one first in the queue. */
export const PRIORITY_CLASSES = ['batch', 'normal', 'urgent'] as const;

/** `urgent` experiments may preempt `batch` experiments; `normal` ones neither preempt nor are preempted. */
export type PriorityClass = (typeof PRIORITY_CLASSES)[number];

/** The class and the priority within it; an absent class is `normal`. */
export interface Priorities {
  priority: number;
  priorityClass?: PriorityClass | undefined;
}

/** Distance of two classes: larger than that of any two priorities (-100 to 100). */
const STEP = 300;

/**
 * One number that orders experiments by class, then by priority. A record stores it as its `priority`. That of a normal
 * experiment is its priority.
 */
export function rankOf({ priority, priorityClass = 'normal' }: Priorities): number {
  return priority + STEP * (PRIORITY_CLASSES.indexOf(priorityClass) - 1);
}

/** The inverse of {@link rankOf}. */
export function fromRank(rank: number): { priority: number; priorityClass: PriorityClass } {
  const step = Math.round(rank / STEP);
  return { priority: rank - STEP * step, priorityClass: PRIORITY_CLASSES[step + 1]! };
}
