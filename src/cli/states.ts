import type { ExperimentDetail } from 'echelon-client/calls';
import { type Considered, statusOf } from 'echelon-client/status';
import type { Experiment } from '../schemas/experiment.ts';

// An import of `node:util` would load all its parts, which takes longer than the rest of this module.
const { styleText } = process.getBuiltinModule('node:util');

const STATE_COLORS: Readonly<Record<string, 'green' | 'red' | 'yellow' | 'cyan'>> = {
  succeeded: 'green',
  failed: 'red',
  cancelled: 'yellow',
  running: 'cyan',
};

/** A state in its colour if standard output is a terminal with colours and NO_COLOR is not set. */
export function coloredState(state: string): string {
  const color = STATE_COLORS[state];
  return color === undefined ? state : styleText(color, state);
}

/** State and training signal of an experiment in colour: a wrong signal is red, whatever the state. */
export function coloredStatus(experiment: Considered): string {
  const { text, tone } = statusOf(experiment);
  if (tone === 'wrong') return styleText('red', text);
  // Only the state has its colour.
  return tone === 'state' ? text.replace(experiment.state, coloredState(experiment.state)) : text;
}

/** A duration in its largest fitting unit: "45 s", "12 min", "3.4 h", "90 d". */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 100) return `${Math.round(seconds)} s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
  // Number() removes the decimal of a whole number.
  if (seconds < 172_800) return `${Number((seconds / 3600).toFixed(1))} h`;
  return `${Number((seconds / 86_400).toFixed(1))} d`;
}

/** A time in UTC: "2026-11-25 01:45:33". */
export const time = (ms: number): string => new Date(ms).toISOString().replace('T', ' ').slice(0, 19);

/**
 * The success rate in per cent: on held-out games for a succeeded experiment, else of the last rollouts, because the last
 * evaluation may be many steps old.
 */
export function successRate({ state, progress }: Pick<Experiment, 'state' | 'progress'>): string {
  const names = ['episode/success_rate', 'val/success_rate'];
  const [first, second] = state === 'succeeded' ? names.toReversed() : names;
  const rate = progress.metrics[first!] ?? progress.metrics[second!];
  return typeof rate === 'number' ? `${(rate * 100).toFixed(0)} %` : '-';
}

/** Stands for the wait reason before the first scheduling round. */
export const NO_REASON = 'no scheduling round yet';

/** "12 min (8 min to 20 min)"; "?" without an estimate. */
export function startsIn(estimate: ExperimentDetail['estimate'], now: number): string {
  if (estimate === null) return '?';
  const [likely, early, late] = [estimate.startAt, estimate.earliest, estimate.latest].map((at) =>
    duration(at - now),
  );
  return early === late ? `${likely}` : `${likely} (${early} to ${late})`;
}
