import type { FieldProblem } from '../core/errors.ts';
import type { MetricValue } from '../core/events.ts';
import { EARLY_STOPPING } from '../schemas/rules.ts';
import type { EarlyStopping } from '../schemas/sweep.ts';
import type { Firing } from './evaluate-rules.ts';

/*
 * The median stopping rule of Google Vizier (Golovin et al., "Google Vizier: A Service for Black-Box Optimization",
 * KDD 2017, section 3.2): a trial is stopped at step s if its best value by step s is strictly worse than the median
 * of the running averages, up to step s, of the other trials' values. Vizier compares with completed trials; here
 * every other child counts that has come as far, so that a sweep of which all children run at once is thinned out too.
 */

/** What is remembered of a child; JSON. */
export interface EarlyMemory {
  /** The last step that counted: one that a later attempt repeats does not count again. */
  step: number;
  n: number;
  sum: number;
  best: number | null;
  /** Looks so far. */
  looks: number;
}

/** A step at which a child is compared. */
interface Look {
  /** The step that the look is for: afterSteps, and every everySteps from there. */
  step: number;
  average: number;
  best: number;
  /** When and in which attempt its last value came. */
  at: number;
  attempt: number;
}

/** Looks at one child at most; from then on it runs to its end. */
const MAX_LOOKS = 100;

/** What is wrong with an early stopping that could stop none of so many children; undefined if it is valid. */
export function neverStops({ minChildren }: EarlyStopping, children: number): FieldProblem | undefined {
  if (minChildren < children) return undefined;
  const most = children - 1;
  if (most === 0) {
    const message = 'has no effect: the only child has none to be compared with; remove it';
    return { field: '/earlyStopping', message };
  }
  const message = `must be at most ${most}: that many other children there are for each`;
  return { field: '/earlyStopping/minChildren', message };
}

/** The memory of a child of which nothing was read yet. */
export function emptyEarlyMemory(): EarlyMemory {
  return { step: -1, n: 0, sum: 0, best: null, looks: 0 };
}

/** Takes the metric's values in; returns the looks that became due. Pure: `memory` is not changed. */
export function takeValues(
  settings: EarlyStopping,
  memory: EarlyMemory,
  values: readonly { step: number; value: MetricValue | undefined; at: number; attempt: number }[],
): { memory: EarlyMemory; looks: Look[] } {
  const state = { ...memory };
  const looks: Look[] = [];
  for (const { step, value, at, attempt } of values) {
    if (typeof value !== 'number' || !Number.isFinite(value) || step <= state.step) continue;
    state.step = step;
    state.n += 1;
    state.sum += value;
    const best: number = state.best === null || isWorse(settings, state.best, value) ? value : state.best;
    state.best = best;
    for (let due = dueAt(settings, state.looks); due <= step && state.looks < MAX_LOOKS; ) {
      looks.push({ step: due, average: state.sum / state.n, best, at, attempt });
      state.looks += 1;
      due = dueAt(settings, state.looks);
    }
  }
  return { memory: state, looks };
}

function dueAt({ afterSteps, everySteps }: EarlyStopping, look: number): number {
  return afterSteps + look * everySteps;
}

function isWorse({ goal }: EarlyStopping, value: number, than: number): boolean {
  return goal === 'max' ? value < than : value > than;
}

/**
 * Whether the child is to be stopped at this look. `others`: running averages of the other children at the same step.
 * Undefined: the child continues.
 */
export function judgeLook(
  settings: EarlyStopping,
  look: Look,
  others: readonly number[],
): Firing | undefined {
  if (others.length < settings.minChildren) return undefined;
  const median = medianOf(others);
  if (!isWorse(settings, look.best, median)) return undefined;
  const { metric } = settings;
  const { step, best, at, attempt } = look;
  const condition = `best ${metric} worse than the median of the running averages of the others (goal: ${settings.goal})`;
  const reason = `early stopping: the best ${metric} by step ${step} was ${inFigures(best)}, the median of the running averages of ${others.length} others ${inFigures(median)}`;
  const value = (name: string, number: number) => ({ name, step, value: number, batch: null });
  const values = [value(metric, best), value(`median of ${others.length} others`, median)];
  const evidence = { condition, values };
  return { rule: EARLY_STOPPING, do: 'stop', attempt, step, at, batch: null, reason, evidence };
}

/** The middle value, or the mean of the two in the middle. At least one value. */
export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

function inFigures(value: number): string {
  return String(Number(value.toPrecision(6)));
}
