import type { ExperimentDetail } from 'echelon-client/calls';
import { duration } from './states.ts';

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
