import type { Measured, Pace, RecordedPace } from '../store/queue/types.ts';
import type { Span } from './nodes.ts';

/*
 * Expected ends and run times from measured steps. With n steps left of mean m and standard deviation s (from k measured
 * steps), the rest takes n·m ± 2·sqrt(n·s² + n²·s²/k): the steps vary, and the measured mean has an error.
 *
 * A timeout bounds the result. If nothing was measured, the run is expected to use its timeout up, as Slurm expects of a
 * job's time limit, and may end at any time before.
 */

/** Minimum number of measurements for an expectation. */
const MIN_MEASURED = 2;
/** Minimum distance of the bounds, as a share of the remaining time: work outside of the steps is not measured. */
const MIN_SPREAD = 0.05;

/** When a running experiment is expected to end (ms since 1970); null: not known. */
export function expectedEnd(pace: Pace, now: number): Span | null {
  const { timeoutAt } = pace;
  const end = measuredEnd(pace, now);
  if (timeoutAt === null) return end;
  const limit = Math.max(timeoutAt, now);
  return end === null ? { early: now, likely: limit, late: limit } : bounded(end, limit);
}

function measuredEnd({ step, steps, perStep, startedAt, sweep }: Pace, now: number): Span | null {
  if (step !== null && steps > 0 && isKnown(perStep)) {
    // The present step counts as left. If it is overdue, it ends now at the earliest.
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
 * The expected run time of a queued experiment in ms: from its earlier attempts, else from its sweep, else from its timeout.
 * Null: not known.
 */
export function expectedLength(pace: Pace): Span | null {
  const { steps, perStep, kept, sweep, timeoutMs } = pace;
  const ofSweep = isKnown(sweep) ? oneOf(sweep) : null;
  const measured = steps > 0 && isKnown(perStep) ? lengthOf(perStep, Math.max(1, steps - kept)) : ofSweep;
  if (timeoutMs === null) return measured;
  return measured === null ? { early: 0, likely: timeoutMs, late: timeoutMs } : bounded(measured, timeoutMs);
}

/**
 * How long a running experiment has worked since its last checkpoint, in ms: this work is lost if its attempt ends now. From
 * the measured steps, else the time since its first start.
 */
export function sinceCheckpoint({ step, perStep, kept, startedAt }: Pace, now: number): number {
  const whole = step === null ? null : Math.max(0, step.number - 1 - kept);
  if (step !== null && (whole === 0 || perStep !== null))
    return whole! * (perStep?.meanMs ?? 0) + Math.max(0, now - step.at);
  return startedAt === null ? 0 : Math.max(0, now - startedAt);
}

/**
 * How long a queued experiment runs at most before its work is saved, in ms: until its next checkpoint, or its end. Null: not
 * known.
 */
export function untilSaved(pace: Pace & Pick<RecordedPace, 'saveEvery'>): number | null {
  const { saveEvery, perStep } = pace;
  // A timeout alone says nothing about the end.
  const times = [expectedLength({ ...pace, timeoutMs: null })?.late ?? Number.POSITIVE_INFINITY];
  if (saveEvery !== null && isKnown(perStep)) times.push(lengthOf(perStep, saveEvery).late);
  const first = Math.min(...times);
  return Number.isFinite(first) ? first : null;
}

function bounded({ early, likely, late }: Span, limit: number): Span {
  return { early: Math.min(early, limit), likely: Math.min(likely, limit), late: Math.min(late, limit) };
}

function isKnown(measured: Measured | null): measured is Measured {
  return measured !== null && measured.count >= MIN_MEASURED;
}

/** The duration of `count` steps in sequence. */
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
