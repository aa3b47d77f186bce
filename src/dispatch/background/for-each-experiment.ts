import type { Log } from '../log.ts';

/** The setting of background work that goes through many experiments. */
export interface BackgroundWork {
  log: Log;
  /** Whether this dispatcher stops: the rest is then left to another one. */
  stopped: () => boolean;
  /** Experiments at a time. */
  atOnce?: number;
}

/**
 * Does `work` for each experiment, `atOnce` at a time, so that a slow experiment holds up no other. A failure is logged
 * and stops no other experiment. Returns how many experiments were done.
 */
export async function forEachExperiment(
  { log, stopped, atOnce = 4 }: BackgroundWork,
  ids: Iterable<string>,
  what: string,
  work: (id: string) => Promise<boolean>,
): Promise<number> {
  const left = Iterator.from(ids);
  let done = 0;
  async function next(): Promise<void> {
    for (const experiment of left) {
      if (stopped()) return;
      try {
        if (await work(experiment)) done += 1;
      } catch (error) {
        log.warn({ err: error, experiment }, `${what} failed; it is tried again`);
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, next));
  return done;
}
