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
 * Runs `run` at `start` and then `everyMs` after the end of each time, or at once when poked. A time that throws is
 * logged, the first of a row of equal failures only, and the next one comes as usual.
 */
export function createLoop({
  name,
  everyMs,
  run,
  log,
}: {
  name: string;
  everyMs: number;
  run: () => Promise<void>;
  log: Log;
}): Loop {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let again = false;
  let stopped = true;
  let lastFailure = '';

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
    running = once().then(() => {
      running = undefined;
      if (stopped) return;
      if (again) begin();
      else timer = setTimeout(begin, everyMs);
    });
  }

  return {
    start() {
      if (!stopped) return;
      stopped = false;
      begin();
    },
    poke() {
      if (running) again = true;
      else begin();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
