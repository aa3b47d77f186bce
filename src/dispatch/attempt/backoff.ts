import { setTimeout as delay } from 'node:timers/promises';

/** Waits that grow from try to try, and start over after a success. */
export interface Backoff {
  /** Waits, or returns at once when `signal` aborts. */
  wait(signal: AbortSignal): Promise<void>;
  reset(): void;
}

type Sleep = (ms: number, signal: AbortSignal) => Promise<unknown>;

const sleepFor: Sleep = (ms, signal) => delay(ms, undefined, { signal });

/** Doubles from `firstMs` to `longestMs`; each wait is between half and all of that, so that many do not come at once. */
export function createBackoff(
  { firstMs, longestMs }: { firstMs: number; longestMs: number },
  sleep: Sleep = sleepFor,
): Backoff {
  let nextMs = firstMs;
  return {
    async wait(signal) {
      const ms = nextMs * (0.5 + Math.random() / 2);
      nextMs = Math.min(longestMs, nextMs * 2);
      if (!signal.aborted) await sleep(ms, signal).catch(() => {});
    },
    reset() {
      nextMs = firstMs;
    },
  };
}
