/** Numbers, times and sizes in words and in the same width everywhere. */

import { inert, inertText } from 'command-kit/inert';

export { inert, inertText };

const COUNT = new Intl.NumberFormat('en-US');

/** 12,345 */
export const count = (n: number): string => COUNT.format(n);

/** A number of the trainer's with at most `digits` significant digits; `none` for null. */
export function figure(x: number | string | null | undefined, digits = 4): string {
  if (x === null || x === undefined) return 'none';
  if (typeof x === 'string' || !Number.isFinite(x)) return String(x);
  if (x === 0) return '0';
  const size = Math.abs(x);
  if (size < 1e-4 || size >= 1e9) return x.toExponential(Math.max(0, digits - 1)).replace(/\.?0+e/, 'e');
  return String(Number(x.toPrecision(digits)));
}

/** A value of float32 in full: seven significant digits, as `echelon explain` shows it. */
export const exactly = (x: number | null | undefined): string => figure(x, 7);

/** A share as a percentage: `<1 %` and `>99 %` never hide a rest. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return '–';
  const share = (part / whole) * 100;
  if (part > 0 && share < 1) return '<1 %';
  if (part < whole && share > 99) return '>99 %';
  return `${Math.round(share)} %`;
}

const UNITS: [limitMs: number, unitMs: number, name: string][] = [
  [90_000, 1000, 's'],
  [90 * 60_000, 60_000, 'min'],
  [36 * 3_600_000, 3_600_000, 'h'],
  [Number.POSITIVE_INFINITY, 86_400_000, 'd'],
];

/** A duration in its largest fitting unit: `45 s`, `12 min`, `3 h`, `4 d`. */
export function duration(ms: number): string {
  const size = Math.max(0, ms);
  const [, unit, name] = UNITS.find(([limit]) => size < limit)!;
  return `${Math.round(size / unit)} ${name}`;
}

/** How long ago or ahead a time is. */
export function ago(at: number, now: number): string {
  const ms = now - at;
  if (Math.abs(ms) < 2000) return 'now';
  return ms >= 0 ? `${duration(ms)} ago` : `in ${duration(-ms)}`;
}

/** A time of the day, with its date if that is another day than today. */
export function clock(at: number, now: number): string {
  const [day, today] = [new Date(at), new Date(now)];
  const time = day.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  if (day.toDateString() === today.toDateString()) return time;
  return `${day.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })} ${time}`;
}

/** The text with the names of experiments in place of their ids; unknown ids stay. */
export function withNames(text: string, names: ReadonlyMap<string, string>): string {
  return text.replace(/\bexp-[0-9a-z]{20}\b/g, (id) => names.get(id) ?? id);
}
