import { once } from 'node:events';
import { EchelonError } from '../../core/errors.ts';

/** A follower looks again after this time where the server did not answer. */
export const RETRY_MS = 250;

/** Remembers a ring that comes before anybody waits for it; rings by itself after the time that one waits. */
export function createBell() {
  const target = new EventTarget();
  let rang = false;
  let timer: NodeJS.Timeout | undefined;
  const bell = {
    ring: (): void => {
      rang = true;
      target.dispatchEvent(new Event('ring'));
    },
    quiet(): void {
      rang = false;
    },
    async rung(waitMs: number): Promise<void> {
      if (rang) return;
      timer = setTimeout(bell.ring, waitMs);
      await once(target, 'ring');
      clearTimeout(timer);
    },
    stop(): void {
      clearTimeout(timer);
    },
  };
  return bell;
}

/** A follower outlives a restart of Redis: it reads on when the server is back. */
export async function orNothing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof EchelonError && error.code === 'store-unavailable') return undefined;
    throw error;
  }
}
