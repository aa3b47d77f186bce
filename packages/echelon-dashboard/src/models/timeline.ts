/** An axis of time, in ms since 1970. */
export interface Axis {
  from: number;
  to: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  7 * DAY,
  30 * DAY,
];

/**
 * An axis from the past to the last of the times. The past takes at most a third of it, so that a long run does not hide
 * the queued experiments.
 */
export function axisAround(now: number, times: readonly number[]): Axis {
  const ahead = 1.04 * Math.max(2 * MINUTE, ...times.map((at) => at - now));
  const since = 1.04 * Math.max(0, ...times.map((at) => now - at));
  return { from: now - Math.min(ahead / 2, Math.max(since, ahead / 12)), to: now + ahead };
}

/** Where a time is on the axis, from 0 to 1; times beyond its ends are at the ends. */
export function placeOn({ from, to }: Axis, at: number): number {
  return Math.min(1, Math.max(0, (at - from) / (to - from)));
}

/** Round times on the axis, at most `most`; `offsetMs`: local time minus UTC. */
export function ticksOf({ from, to }: Axis, most: number, offsetMs: number): number[] {
  const step = STEPS.find((one) => (to - from) / one <= most) ?? (to - from) / most;
  const ticks: number[] = [];
  for (let at = Math.ceil((from + offsetMs) / step) * step - offsetMs; at <= to; at += step) ticks.push(at);
  return ticks;
}
