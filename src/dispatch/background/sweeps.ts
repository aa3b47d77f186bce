import { makeChild } from '../../plan/sweep.ts';
import type { ExperimentsQueue } from '../../queue/experiments-queue.ts';
import type { Store } from '../../store/store.ts';
import type { SweptExperiment } from '../../store/sweeps/types.ts';
import type { Log } from '../log.ts';

/** Sweeps advanced in one round. */
const SWEEPS_AT_ONCE = 100;

/**
 * Advances every sweep that has work: submits its due children and adds their jobs, or cancels the children of a cancelled
 * sweep. Several dispatchers may do so at the same time, and another one continues after a crash. A failure for one sweep
 * is logged and stops no other.
 */
export async function advanceSweeps(deps: {
  store: Pick<Store, 'sweeps'>;
  queue: Pick<ExperimentsQueue, 'enqueue' | 'remove'>;
  log: Log;
  /** Whether this dispatcher stops: another dispatcher continues. */
  stopped?: () => boolean;
}): Promise<void> {
  const { store, queue, log, stopped = () => false } = deps;
  for (const id of await store.sweeps.withWork(SWEEPS_AT_ONCE)) {
    if (stopped()) return;
    try {
      await advance(id);
    } catch (error) {
      log.warn({ err: error, sweep: id }, 'a sweep cannot be advanced; it is tried again');
    }
  }

  async function advance(id: string): Promise<void> {
    if ((await store.sweeps.get(id))?.state === 'cancelled') {
      for (let from: number | null = 0; from !== null && !stopped(); ) {
        const { cancelled, next } = await store.sweeps.cancelChildren(id, from);
        from = next;
        await queue.remove(cancelled);
      }
      return;
    }
    for (let more = true; more && !stopped(); ) {
      const step = await store.sweeps.expand(id, makeChild);
      more = step.more;
      await enqueue(id, step.made);
    }
    if (!stopped()) await enqueue(id, await store.sweeps.release(id, makeChild));
  }

  async function enqueue(id: string, made: readonly SweptExperiment[]): Promise<void> {
    await queue.enqueue(made.map(({ experiment }) => experiment)).catch((error: Error) => {
      log.warn({ err: error, sweep: id }, 'no jobs yet for children of a sweep; the reconciler adds them');
    });
  }
}
