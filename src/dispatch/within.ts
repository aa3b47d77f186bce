import { setTimeout as delay } from 'node:timers/promises';

/** Waits for `work`, but no longer than `ms`. Rejects where the work does. */
export async function within(ms: number, work: Promise<unknown> | undefined): Promise<void> {
  if (work === undefined) return;
  const over = new AbortController();
  try {
    await Promise.race([work, delay(ms, undefined, { signal: over.signal }).catch(() => {})]);
  } finally {
    over.abort();
  }
}
