import type { Log } from './log.ts';

/** A task that one process repeats, never twice at a time. */
export interface Loop {
  start(): void;
  /** Runs the task now, or once more directly after the present run. */
  poke(): void;
  /** Starts no further run; resolves when the present run is over. */
  stop(): Promise<void>;
}

/**
 * Runs `run` at `start` and then `everyMs` after the end of each run, or at once when poked. With `restMs`, a run begins no
 * earlier than that after the beginning of the run before it, however often it is poked. A failed run is logged, unless
 * the run before it failed with the same message; the next run comes as usual.
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
