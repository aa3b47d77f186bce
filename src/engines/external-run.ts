import type { Ended } from '../core/events.ts';

/**
 * The engine in the record of an external run: a training that Echelon follows but did not start. It is not in the
 * registry, because nothing of it is compiled or launched.
 */
export const EXTERNAL_ENGINE = 'external';

/** The attempt of every external run. */
export const RUN_ATTEMPT = 1;

/** Where the end of a run leads. null: its client was silent for too long. */
export function endOfRun(ended: Ended | null): { to: 'succeeded' | 'failed'; reason: string } {
  if (ended === null)
    return { to: 'failed', reason: 'its client sent nothing for longer than silenceSeconds' };
  if (ended.cause === 'succeeded') return { to: 'succeeded', reason: 'the client reported success' };
  const message = ended.message === '' ? '' : `: ${ended.message}`;
  return { to: 'failed', reason: `the client reported the end "${ended.cause}"${message}` };
}
