import type { Log } from '../log.ts';

/** Of a round through many: where what fails is said, and whether the rest is to be left to another. */
export interface Round {
  log: Log;
  stopped: () => boolean;
}

/**
 * Does something for each experiment, one after the other; one that fails is logged and stops no other. Returns how many
 * were done.
 */
export async function each(
  { log, stopped }: Round,
  ids: Iterable<string>,
  what: string,
  work: (id: string) => Promise<boolean>,
): Promise<number> {
  let done = 0;
  for (const experiment of ids) {
    if (stopped()) break;
    try {
      if (await work(experiment)) done += 1;
    } catch (error) {
      log.warn({ err: error, experiment }, `${what} failed; it is tried again`);
    }
  }
  return done;
}
