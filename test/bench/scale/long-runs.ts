import type { AttemptEvent } from '../../../src/core/events.ts';

/** Metrics of a step. */
export const METRICS = 100;
const STEPS = [1_000, 10_000, 100_000];
/** Lines of an event of the log. */
export const LINES_PER_EVENT = 100;
const LINES = [100_000, 1_000_000, 10_000_000];
const LINE = 'step 123456: a line of a log as long as such lines are, about eighty letters in all';
/** A run that gets longer and longer. */
export interface LongRun {
  /** In steps or lines. */
  lengths: readonly number[];
  /** Steps or lines of an event. */
  perEvent: number;
  event(sequence: number): AttemptEvent;
  /** What is read of a run of this length, by name. */
  reads(length: number): Record<string, string>;
}

/** A run with many metrics in each step. */
export const metricsRun: LongRun = {
  lengths: STEPS,
  perEvent: 1,
  event: (step) => ({ type: 'metrics', step, values: valuesOf(step) }),
  reads: (length) => ({
    'chart of one metric, 500 points': `metrics?names=${nameOf(0)}&resolution=500`,
    'chart of 20 metrics, 500 points each': `metrics?names=${Array.from({ length: 20 }, (_n, at) => nameOf(at)).join()}&resolution=500`,
    'chart of the last 500 steps': `metrics?names=${nameOf(0)}&from=${length - 500}&resolution=500`,
  }),
};

/** A run with a long log. */
export const logRun: LongRun = {
  lengths: LINES,
  perEvent: LINES_PER_EVENT,
  event: () => ({
    type: 'log',
    source: 'stdout',
    cutBytes: 0,
    lines: Array<string>(LINES_PER_EVENT).fill(LINE),
  }),
  reads: (length) => ({
    'the last 100 lines': 'logs?tail=100',
    'a page in the middle': `logs?since=${length / 2}`,
    'the first page': 'logs',
  }),
};

const nameOf = (at: number) => `actor/metric_${at}`;

function valuesOf(step: number): Record<string, number> {
  return Object.fromEntries(
    Array.from({ length: METRICS }, (_value, at) => [nameOf(at), Math.sin(step * (at + 1) + 0.1) * 1e-3]),
  );
}
