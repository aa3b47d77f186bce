import { EchelonError } from '../core/errors.ts';
import { retryUntil } from '../core/retry.ts';
import type { Log } from '../observe/log.ts';

const BETWEEN_MS = 250;

/** Replies that waiting does not change: the operator must change a setting. */
const REFUSALS = /^(NOAUTH|WRONGPASS|NOPERM)\b/;

/** Repeats a step of a start until the store answers. Throws other errors, and the last one. */
export type StartPatience = <T>(step: () => Promise<T>) => Promise<T>;

/**
 * A starting process does not end because the store is slow or away for a while. It repeats its steps for `waitMs` in
 * all, and logs once that it waits. Each step must be repeatable.
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
