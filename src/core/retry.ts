import { setTimeout as delay } from 'node:timers/promises';

/** The first and the longest wait between two tries. */
export interface RetryWaits {
  firstMs: number;
  longestMs: number;
}

/** Waits that grow from try to try, and start over after a success. */
export interface Backoff {
  /** Waits, or returns at once when `signal` aborts. */
  wait(signal?: AbortSignal): Promise<void>;
  reset(): void;
}

type Sleep = (ms: number, signal: AbortSignal | undefined) => Promise<unknown>;

const sleepFor: Sleep = (ms, signal) => delay(ms, undefined, { ...(signal && { signal }) });

/**
 * Doubles from `firstMs` to `longestMs`. Each wait is between half and all of that, so that many callers do not retry at
 * the same time.
 */
export function createBackoff({ firstMs, longestMs }: RetryWaits, sleep: Sleep = sleepFor): Backoff {
  let nextMs = firstMs;
  return {
    async wait(signal) {
      const ms = nextMs * (0.5 + Math.random() / 2);
      nextMs = Math.min(longestMs, nextMs * 2);
      if (!signal?.aborted) await sleep(ms, signal).catch(() => {});
    },
    reset() {
      nextMs = firstMs;
    },
  };
}

/**
 * Repeats `work` until it succeeds or `shouldRetry` returns false, and then rejects with the last error. `signal` ends a
 * wait, not the tries: `work` and `shouldRetry` decide what an abort means.
 */
export async function retryUntil<T>(
  work: (backoff: Backoff) => Promise<T>,
  options: {
    waits: RetryWaits;
    shouldRetry(error: unknown, tries: number): boolean;
    signal?: AbortSignal | undefined;
  },
): Promise<T> {
  const backoff = createBackoff(options.waits);
  for (let tries = 1; ; tries += 1) {
    try {
      return await work(backoff);
    } catch (error) {
      if (!options.shouldRetry(error, tries)) throw error;
      await backoff.wait(options.signal);
    }
  }
}
