import type { Ended } from '../core/events.ts';
import { type EndDecision, RETRIED_CAUSES } from '../store/store.ts';

const WORDS: Record<Ended['cause'], string> = {
  succeeded: 'the driver ended by itself, successfully',
  failed: 'the driver failed',
  stopped: 'the driver was stopped',
  killed: 'the driver was killed by a signal that was not ours',
  'out-of-memory': 'the driver was killed for memory',
  'supervisor-lost': "the attempt's supervisor was lost",
  'not-started': 'the driver could not be started',
  'node-lost': 'the attempt is gone from the cluster',
};

/** How a driver ended, in one sentence. */
export function endInWords({ cause, exitCode, signal, message }: Ended): string {
  // "exit code 0" says nothing more.
  if (cause === 'succeeded') return WORDS[cause];
  const number = signal > 0 ? ` (signal ${signal})` : exitCode !== 0 ? ` (exit code ${exitCode})` : '';
  return `${WORDS[cause]}${number}${message === '' ? '' : `: ${message}`}`;
}

/**
 * Where an attempt's end leads. A cancelled experiment is `cancelled` however its driver ended; an end by a cause
 * outside of the training is worth another attempt while there is one left.
 */
export function decide(
  ended: Ended,
  { attempt, maxAttempts, cancelling }: { attempt: number; maxAttempts: number; cancelling: boolean },
): EndDecision {
  const words = endInWords(ended);
  if (cancelling) return { to: 'cancelled', reason: `cancelled; ${words}` };
  if (ended.cause === 'succeeded') return { to: 'succeeded', reason: words };
  if (!RETRIED_CAUSES.includes(ended.cause)) return { to: 'failed', reason: words };
  const count = `attempt ${attempt} of ${maxAttempts}`;
  return attempt < maxAttempts
    ? { to: 'queued', reason: `${count}: ${words}; it will be tried again` }
    : { to: 'failed', reason: `${count}: ${words}` };
}

/** The end of an attempt that the ray-worker can say nothing more about. */
export function lostAttempt(message: string): Ended {
  return { type: 'ended', cause: 'node-lost', exitCode: 0, signal: 0, message, lastLines: [] };
}
