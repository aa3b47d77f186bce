import { randomUUID } from 'node:crypto';
import type { Output } from 'command-kit/output';
import { retryUntil } from '../core/retry.ts';
import { AnswerLost, PATIENCE_MS, RETRYING } from './client.ts';

/** What {@link submitted} needs. */
interface Submission {
  readonly output: Output;
  readonly idempotencyKey?: string | undefined;
  /** How long a lost answer is asked for again. */
  readonly patienceMs?: number;
}

/** The header that makes a repeated submission harmless. */
interface Headers {
  readonly 'idempotency-key': string;
}

/**
 * Sends a submission; if its answer is lost, again with the same key, so that it is submitted once. A message with the key
 * tells how to repeat it if no answer comes or the user interrupts the command.
 */
export async function submitted<T>(
  { output, idempotencyKey = randomUUID(), patienceMs = PATIENCE_MS }: Submission,
  send: (headers: Headers) => Promise<T>,
): Promise<T> {
  const repeat = `Repeat the command with --idempotency-key ${idempotencyKey}: nothing is submitted twice.`;
  const onInterrupt = (): void => {
    output.remark(`Interrupted before the answer. ${repeat}`);
    process.exit(130);
  };
  process.once('SIGINT', onInterrupt);
  const begun = Date.now();
  try {
    return await retryUntil(() => send({ 'idempotency-key': idempotencyKey }), {
      waits: { firstMs: 500, longestMs: 5_000 },
      shouldRetry(error, tries) {
        if (!(error instanceof AnswerLost)) return false;
        if (Date.now() - begun > patienceMs) {
          output.remark(repeat);
          return false;
        }
        if (tries === 1) output.remark(`${error.message} ${RETRYING} Idempotency key: ${idempotencyKey}.`);
        return true;
      },
    });
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}
