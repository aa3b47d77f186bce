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

/** How a driver ended, in one sentence; where it failed, with the line of its output that tells why. */
export function endInWords({ cause, exitCode, signal, message, lastLines }: Ended): string {
  // "exit code 0" says nothing more.
  if (cause === 'succeeded') return WORDS[cause];
  const number = signal > 0 ? ` (signal ${signal})` : exitCode !== 0 ? ` (exit code ${exitCode})` : '';
  const said = message
    .replace(NUMBER_FIRST, '')
    .replace(NUMBER_LAST, '')
    .replace(/^stopped: /, '');
  const why = said === '' && cause === 'failed' ? tellingLine(lastLines) : said;
  return `${WORDS[cause]}${number}${why === '' ? '' : `: ${why}`}`;
}

// The ray-worker's message may begin or end with the number that we say already.
const NUMBER_FIRST = /^(?:exit code \d+|signal \d+(?: \(\w+\))?)(?:: |$)/;
const NUMBER_LAST = / \((?:exit code \d+|signal \d+(?: \(\w+\))?)\)$/;

const LONGEST_LINE = 300;

/** The last line that looks like an error, else the last one that says anything. */
function tellingLine(lines: readonly string[]): string {
  const error = lines.findLast((line) => /^\S*(?:error|exception)\b/i.test(line));
  const line = error ?? lines.findLast((one) => one.trim() !== '') ?? '';
  return line.trim().slice(0, LONGEST_LINE);
}

/**
 * Where an attempt's end leads. A cancelled experiment is `cancelled` however its driver ended; an end by a cause
 * outside of the training is worth another attempt while there is one left. One that was stopped though nobody
 * cancelled it (its machine went down in good order) goes on, and that is counted against nobody.
 */
export function decide(
  ended: Ended,
  { attempt, maxAttempts, cancelling }: { attempt: number; maxAttempts: number; cancelling: boolean },
): EndDecision {
  const words = endInWords(ended);
  if (cancelling) return { to: 'cancelled', reason: `cancelled; ${words}` };
  if (ended.cause === 'succeeded') return { to: 'succeeded', reason: words };
  if (ended.cause === 'stopped')
    return { to: 'queued', reason: `${words}; it goes on with its next attempt` };
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
