import type { Measured, Pace } from '../store/queue/contract.ts';
import type { Span } from './nodes.ts';

/*
 * From measured steps to expected ends. With n steps left of mean m and standard deviation s (from k measured ones), what
 * is left takes n·m, give or take twice sqrt(n·s² + n²·s²/k): the steps vary, and so does the mean that they were
 * measured to have.
 *
 * A timeout bounds it. Where nothing was measured, it is what is known: the run is taken to use it up, as Slurm takes a
 * job's time limit, and may be over at any time before.
 */

/** So many must be measured before anything is said. */
const LEAST = 2;
/** Bounds are never closer than this share of what is left: what comes beside the steps is not measured. */
const MIN_SPREAD = 0.05;

/** When one that runs is expected to end (ms since 1970); null: nobody knows. */
export function expectedEnd(pace: Pace, now: number): Span | null {
  const { timeoutAt } = pace;
  const end = measuredEnd(pace, now);
  if (timeoutAt === null) return end;
  const limit = Math.max(timeoutAt, now);
  return end === null ? { early: now, likely: limit, late: limit } : bounded(end, limit);
}

function measuredEnd({ step, steps, perStep, startedAt, sweep }: Pace, now: number): Span | null {
  if (step !== null && steps > 0 && isKnown(perStep)) {
    // The present step has begun: it is left too, and when it is overdue, it ends at the earliest now.
    const left = lengthOf(perStep, Math.max(0, steps - step.number + 1));
    const rest = lengthOf(perStep, Math.max(0, steps - step.number));
    return {
      early: Math.max(step.at + left.early, now),
      likely: Math.max(step.at + left.likely, now + rest.likely),
      late: Math.max(step.at + left.late, now + rest.late),
    };
  }
  if (startedAt === null || !isKnown(sweep)) return null;
  const whole = oneOf(sweep);
  return {
    early: Math.max(startedAt + whole.early, now),
    likely: Math.max(startedAt + whole.likely, now),
    late: Math.max(startedAt + whole.late, now),
  };
}

/**
 * How long one that waits is expected to run (ms): by its own earlier attempts, else by its sweep, else by its timeout;
 * null: nobody knows.
 */
export function expectedLength(pace: Pace): Span | null {
  const { steps, perStep, kept, sweep, timeoutMs } = pace;
  const ofSweep = isKnown(sweep) ? oneOf(sweep) : null;
  const measured = steps > 0 && isKnown(perStep) ? lengthOf(perStep, Math.max(1, steps - kept)) : ofSweep;
  if (timeoutMs === null) return measured;
  return measured === null ? { early: 0, likely: timeoutMs, late: timeoutMs } : bounded(measured, timeoutMs);
}

function bounded({ early, likely, late }: Span, limit: number): Span {
  return { early: Math.min(early, limit), likely: Math.min(likely, limit), late: Math.min(late, limit) };
}

function isKnown(measured: Measured | null): measured is Measured {
  return measured !== null && measured.count >= LEAST;
}

/** Of `count` things one after the other. */
function lengthOf({ meanMs, deviationMs, count: measured }: Measured, count: number): Span {
  const variance = count * deviationMs ** 2 + (count * deviationMs) ** 2 / measured;
  const likely = count * meanMs;
  const spread = Math.max(2 * Math.sqrt(variance), MIN_SPREAD * likely);
  return { early: Math.max(0, likely - spread), likely, late: likely + spread };
}

function oneOf(measured: Measured): Span {
  return lengthOf(measured, 1);
}

/** An instant that is known exactly. */
export function instant(at: number): Span {
  return { early: at, likely: at, late: at };
}

/** The later of both, bound by bound. */
export function latest(a: Span, b: Span): Span {
  return {
    early: Math.max(a.early, b.early),
    likely: Math.max(a.likely, b.likely),
    late: Math.max(a.late, b.late),
  };
}

/** The end of something of that length that starts then. */
export function plus(start: Span, length: Span): Span {
  return {
    early: start.early + length.early,
    likely: start.likely + length.likely,
    late: start.late + length.late,
  };
}
