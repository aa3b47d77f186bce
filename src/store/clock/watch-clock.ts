import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import type { Store } from '../store.ts';
import { type ClockMemory, type ClockReading, isLeapt, judgeClock, LEAPT, type OwnClocks } from './judge.ts';

/** Time between two readings; less than the time that the store's clock passes without one (redis/lua/time.lua). */
const EVERY_MS = 2_000;
/** After a longer way to the server and back, the last reading is more exact. */
const MAX_ROUND_TRIP_MS = 2_000;
/** A judgement that is younger need not be repeated by another process. */
const SEEN_MS = 1_000;

/** The store's clock as a process knows it without asking. */
interface StoreClock {
  /** The store's time in ms since 1970, as exact as the last reading. Before the first one: of this process' clock. */
  now(): number;
  stop(): void;
}

interface ClockLog {
  info(context: object, message: string): void;
  warn(context: object, message: string): void;
}

/**
 * Compares the server's clock with this machine's uptime now and then, records leaps in the store, and counts between the
 * readings with a clock that cannot be set. Processes whose own clocks differ thus agree on every time that they write and
 * compare. The caller must `stop()` it.
 */
export async function watchClock(store: Pick<Store, 'clock'>, log?: ClockLog): Promise<StoreClock> {
  let offset: number | undefined;
  let memory: ClockMemory | null = null;
  let known = 0;

  async function read(): Promise<void> {
    const [asked, clocks] = [performance.now(), ownClocks()];
    const reading = await store.clock.read();
    const within = performance.now() - asked;
    const own = { ...clocks, within };
    const correction = judgeClock(reading, own, memory);
    if (isDue(reading, correction) && !(await store.clock.see(reading, correction, own))) return;
    report(correction);
    const time = reading.server + correction;
    memory = { server: reading.server, time, uptime: own.uptime, within };
    if (offset === undefined || within <= MAX_ROUND_TRIP_MS) offset = time - (asked + within / 2);
  }

  function report(correction: number): void {
    const [leapt, before] = [isLeapt(correction), isLeapt(known)];
    const context = { leaptSeconds: Math.round(-correction / 1000) };
    if (leapt && (!before || isLeapt(correction - known))) log?.warn(context, LEAPT);
    if (!leapt && before) log?.info({}, "the clock of Redis is right again; the store's time follows it");
    known = correction;
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

function isDue({ server, seen, correction: before }: ClockReading, correction: number): boolean {
  return seen === null || correction !== before || Math.abs(server + correction - seen) >= SEEN_MS;
}

const MACHINE = bootId();

function ownClocks(): Omit<OwnClocks, 'within'> {
  return { machine: MACHINE, uptime: uptime() * 1000, wall: Date.now() };
}

/** Names this run of this machine. Empty if the system has no such name. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
