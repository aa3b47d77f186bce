import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** CPU pressure (share of time in which some process waited for a CPU, in %) above which times say nothing. */
const MAX_PRESSURE = 50;
/** The longest delay of this process' own timers, in ms, above which times say nothing. */
const MAX_DELAY_MS = 500;
const EVERY_MS = 1_000;
/** Samples above a limit in a row that end a campaign. */
const SAMPLES = 10;

/** Watches whether the machine has enough CPU for the campaign's times to say something. */
export interface Starvation {
  /** Aborts when the machine was starved for ten seconds. */
  readonly signal: AbortSignal;
  /** The highest figures so far, in words. */
  describe(): string;
  stop(): void;
}

/** Starts a {@link Starvation}. */
export function watchStarvation(): Starvation {
  const abort = new AbortController();
  const delays = monitorEventLoopDelay({ resolution: 10 });
  delays.enable();
  const highest = { pressure: 0, delayMs: 0 };
  let above = 0;
  const timer = setInterval(() => {
    const pressure = cpuPressure();
    const delayMs = delays.max / 1e6;
    delays.reset();
    highest.pressure = Math.max(highest.pressure, pressure);
    highest.delayMs = Math.max(highest.delayMs, delayMs);
    above = pressure > MAX_PRESSURE || delayMs > MAX_DELAY_MS ? above + 1 : 0;
    if (above >= SAMPLES) abort.abort();
  }, EVERY_MS);
  return {
    signal: abort.signal,
    describe: () =>
      `CPU pressure up to ${highest.pressure.toFixed(0)} %, own timers up to ${highest.delayMs.toFixed(0)} ms late`,
    stop() {
      clearInterval(timer);
      delays.disable();
    },
  };
}

/** 0 if the kernel does not report it. */
function cpuPressure(): number {
  try {
    return Number(/^some avg10=([\d.]+)/.exec(readFileSync('/proc/pressure/cpu', 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
