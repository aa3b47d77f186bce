import type { Log } from '../log.ts';

/** Of a round through many: where what fails is said, and whether the rest is to be left to another. */
export interface Round {
  log: Log;
  stopped: () => boolean;
  /** Experiments at a time. */
  atOnce?: number;
}

/**
 * Does something for each experiment, `atOnce` at a time, so that one that takes long holds up no other; one that fails is
 * logged and stops no other. Returns how many were done.
 */
export async function each(
  { log, stopped, atOnce = 4 }: Round,
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
