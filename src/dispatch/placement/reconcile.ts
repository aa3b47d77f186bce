import type { ExperimentsQueue } from '../../queue/experiments-queue.ts';
import type { Store } from '../../store/store.ts';
import type { Log } from '../log.ts';

/** An allocated experiment is launched within milliseconds. After this time, its job was lost or never released. */
const RELEASED_AGAIN_MS = 5_000;

/**
 * Repairs what a process that died between two steps did not do, and what Redis lost of the jobs: adds missing jobs of
 * queued experiments, and releases the jobs of experiments that were allocated `releaseMs` ago, if they are not released. Each call checks at most `step` experiments of both
 * kinds; an experiment that moves in the queue meanwhile may be checked by a later call. Several dispatchers may do so at
 * the same time.
 */
export function createReconciler({
  store,
  queue,
  step,
  releaseMs = RELEASED_AGAIN_MS,
  log,
}: {
  store: Store;
  queue: Pick<ExperimentsQueue, 'restore' | 'release'>;
  step: number;
  releaseMs?: number;
  log: Log;
}): () => Promise<{ added: number; released: number }> {
  let next = 0;

  async function addMissing(): Promise<number> {
    const queued = await store.queue.ids(step, next);
    next = queued.length < step ? 0 : next + step;
    return (await queue.restore(queued)).length;
  }

  async function releaseAgain(): Promise<number> {
    const unacquired = await store.attempts.allocated({ olderThanMs: releaseMs, limit: step });
    const released = await Promise.all(unacquired.map((experiment) => queue.release(experiment)));
    return released.filter(Boolean).length;
  }

  return async () => {
    const [added, released] = [await addMissing(), await releaseAgain()];
    if (added + released > 0) log.info({ added, released }, 'added or released jobs of experiments');
    return { added, released };
  };
}

/** Deadlines checked in one step. */
const OVERDUE_AT_ONCE = 500;

/** Fails the experiments whose deadline has passed before they were launched. */
export async function failOverdue({
  store,
  queue,
  log,
}: {
  store: Store;
  queue: Pick<ExperimentsQueue, 'remove'>;
  log: Log;
}): Promise<void> {
  for (let more = true; more; ) {
    const checked = await store.experiments.failOverdue(OVERDUE_AT_ONCE);
    more = checked.more;
    const { failed } = checked;
    if (failed.length > 0)
      log.info({ failed: failed.length }, 'failed experiments whose deadline has passed');
    await queue.remove(failed);
  }
}
