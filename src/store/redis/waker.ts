import { once } from 'node:events';
import { EchelonError } from '../../core/errors.ts';

/** A follower retries after this time if the server does not answer. */
export const RETRY_MS = 250;

/** Waits for a wake-up or a timeout. A wake-up before the wait counts, until `reset`. */
export function createWaker() {
  const target = new EventTarget();
  let awake = false;
  let timer: NodeJS.Timeout | undefined;
  const waker = {
    wake: (): void => {
      awake = true;
      target.dispatchEvent(new Event('wake'));
    },
    reset(): void {
      awake = false;
    },
    async wait(timeoutMs: number): Promise<void> {
      if (awake) return;
      timer = setTimeout(waker.wake, timeoutMs);
      await once(target, 'wake');
      clearTimeout(timer);
    },
    stop(): void {
      clearTimeout(timer);
    },
  };
  return waker;
}

/** Undefined if the server does not answer: a follower continues after a restart of Redis. */
export async function orNothing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof EchelonError && error.code === 'store-unavailable') return undefined;
    throw error;
  }
}
