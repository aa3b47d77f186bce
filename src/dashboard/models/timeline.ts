/** A range of estimated starts. */
interface Estimate {
  startAt: number;
  earliest: number;
  latest: number;
}

/** Where a range lies between now and the end of the axis, from 0 to 1. */
export interface Span {
  from: number;
  at: number;
  to: number;
}

/** The end of an axis that begins now and holds all estimates. */
export function axisEnd(estimates: readonly (Estimate | null)[], now: number): number {
  const last = Math.max(now, ...estimates.map((one) => one?.latest ?? now));
  return Math.max(last, now + 60_000);
}

/** The place of an estimate on the axis; times that have passed are at its start. */
export function spanOf({ startAt, earliest, latest }: Estimate, now: number, end: number): Span {
  const place = (at: number) => Math.min(1, Math.max(0, (at - now) / (end - now)));
  return { from: place(earliest), at: place(startAt), to: place(latest) };
}
