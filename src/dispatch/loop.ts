import type { Log } from './log.ts';

/** Something done again and again by one process, never twice at a time. */
export interface Loop {
  start(): void;
  /** Does it at once, or once more right after the present time. */
  poke(): void;
  /** No further times; resolves when the present one is over. */
  stop(): Promise<void>;
}

/**
 * Runs `run` at `start` and then `everyMs` after the end of each time, or at once when poked; with `restMs` no sooner
 * than that after the last beginning, however often it is poked. A time that throws is logged, the first of a row of
 * equal failures only, and the next one comes as usual.
 */
export function createLoop({
  name,
  everyMs,
  restMs = 0,
  run,
  log,
}: {
  name: string;
  everyMs: number;
  restMs?: number;
  run: () => Promise<void>;
  log: Log;
}): Loop {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let again = false;
  let stopped = true;
  let lastFailure = '';
  let beganAt = Number.NEGATIVE_INFINITY;

  async function once(): Promise<void> {
    try {
      await run();
      lastFailure = '';
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== lastFailure) log.warn({ loop: name, err: error }, `${name} failed: ${message}`);
      lastFailure = message;
    }
  }

  function begin(): void {
    if (stopped) return;
    clearTimeout(timer);
    again = false;
    beganAt = performance.now();
    running = once().then(() => {
      running = undefined;
      if (stopped) return;
      if (again) beginRested();
      else timer = setTimeout(begin, everyMs);
    });
  }

  function beginRested(): void {
    const rest = restMs - (performance.now() - beganAt);
    clearTimeout(timer);
    if (rest <= 0) begin();
    else if (!stopped) timer = setTimeout(begin, rest);
  }

  return {
    start() {
      if (!stopped) return;
      stopped = false;
      begin();
    },
    poke() {
      if (running) again = true;
      else beginRested();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
