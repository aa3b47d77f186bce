import { newExperimentId } from './ids.ts';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** What a sweep's id looks like. */
export const SWEEP_ID = /^swp-[0-9a-hjkmnp-tv-z]{20}$/;

/** Children of one sweep at most. */
export const MAX_CHILDREN = 10_000;
/** Runs of one child at most: the first one and its re-runs. */
export const MAX_RUNS = 64;

/** A new sweep id: `swp-` and 20 characters made like those of an experiment's id. */
export function newSweepId(): string {
  return `swp-${newExperimentId().slice(4)}`;
}

/**
 * The experiment id of run `run` (from 0) of child `index` (from 0) of a sweep: 16 characters of the sweep's id and
 * four that count index and run. Two children of a sweep never share an id, and every expansion of a sweep gives
 * the same ids.
 */
export function childId(sweep: string, index: number, run: number): string {
  const place = index * MAX_RUNS + run;
  let text = '';
  for (let shift = 15; shift >= 0; shift -= 5) text += ALPHABET[(place >> shift) & 31];
  return `exp-${sweep.slice(4, 20)}${text}`;
}
