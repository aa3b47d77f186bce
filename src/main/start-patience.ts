import { EchelonError } from '../core/errors.ts';
import { retryUntil } from '../core/retry.ts';
import type { Log } from '../observe/log.ts';

const BETWEEN_MS = 250;

/** Replies that do not pass by themselves: somebody has to change a setting. */
const REFUSALS = /^(NOAUTH|WRONGPASS|NOPERM)\b/;

/** Does something of a start again until the store answers; other errors, and the last one, are thrown. */
export type StartPatience = <T>(step: () => Promise<T>) => Promise<T>;

/**
 * A process does not end because the store is slow, or away, for a while as it starts: its steps, each of which may be
 * repeated, are tried for `waitMs` from now on altogether, and the log says once that it waits.
 */
export function createStartPatience({ waitMs, log }: { waitMs: number; log: Log }): StartPatience {
  const endsAt = performance.now() + waitMs;
  let said = false;
  const shouldRetry = (error: unknown): boolean => {
    if (!mayPass(error) || performance.now() + BETWEEN_MS > endsAt) return false;
    if (!said)
      log.warn({ err: error }, `the store does not answer; waiting for it, ${waitMs / 1000} s at most`);
    said = true;
    return true;
  };
  const waits = { firstMs: BETWEEN_MS, longestMs: BETWEEN_MS };
  return (step) => retryUntil(step, { waits, shouldRetry });
}

function mayPass(error: unknown): boolean {
  if (!(error instanceof EchelonError) || error.code !== 'store-unavailable') return false;
  return !(error.cause instanceof Error && REFUSALS.test(error.cause.message));
}
