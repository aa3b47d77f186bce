import type { Redis } from 'ioredis';
import type { Store } from '../store.ts';
import { guarded } from './errors.ts';

/** Time between two readings: the clocks of two machines drift apart by less than a millisecond in it. */
const EVERY_MS = 10_000;
/** A reading that took longer says too little. */
const MAX_ROUND_TRIP_MS = 2_000;

/** The server's clock as a process knows it without asking. */
export interface ServerClock {
  /** Time of the server in ms since 1970, as exact as the last reading. Before the first one: of this process' clock. */
  now(): number;
  stop(): void;
}

/** See {@link Store.time}. */
export async function serverTime({ redis }: { redis: Redis }): Promise<number> {
  const [seconds, micros] = await guarded(redis.time());
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}

/**
 * Reads the server's clock now and then, and counts between the readings with a clock that cannot be set. Processes whose
 * own clocks differ thus agree on every time that they write and compare. The caller must `stop()` it.
 */
export async function startServerClock(store: Pick<Store, 'time'>): Promise<ServerClock> {
  let offset: number | undefined;

  async function read(): Promise<void> {
    const asked = performance.now();
    const time = await store.time();
    const answered = performance.now();
    if (answered - asked <= MAX_ROUND_TRIP_MS) offset = time - (asked + answered) / 2;
  }

  // While the server is away, the last reading holds.
  const retryLater = () => {};
  const timer = setInterval(() => void read().catch(retryLater), EVERY_MS).unref();
  await read().catch(retryLater);
  return {
    now: () => (offset === undefined ? Date.now() : Math.round(performance.now() + offset)),
    stop: () => clearInterval(timer),
  };
}
