import { makeChild } from '../../plan/sweep.ts';
import type { Line } from '../../queue/line.ts';
import type { Store } from '../../store/store.ts';
import type { SweptExperiment } from '../../store/sweeps/contract.ts';
import type { Log } from '../log.ts';

/** Sweeps looked at in one round. */
const SWEEPS_AT_ONCE = 100;

/** What the advance of sweeps needs. */
export interface SweepsDeps {
  store: Pick<Store, 'sweepsWithWork' | 'sweep' | 'expandSweep' | 'releaseSweep' | 'cancelSweepChildren'>;
  line: Pick<Line, 'join'>;
  log: Log;
  /** True: leave the rest to another. */
  stopped?: () => boolean;
}

/**
 * Brings every sweep with work as far as it goes now: makes children experiments and gives them their jobs, or cancels
 * the children of a cancelled one. Safe beside other dispatchers doing the same, and after one that died at it. What
 * fails for one sweep is logged and stops no other.
 */
export async function advanceSweeps(deps: SweepsDeps): Promise<void> {
  const { store, log, stopped = () => false } = deps;
  for (const id of await store.sweepsWithWork(SWEEPS_AT_ONCE)) {
    if (stopped()) return;
    try {
      await advance(deps, id);
    } catch (error) {
      log.warn({ err: error, sweep: id }, 'a sweep does not go on; it is tried again');
    }
  }
}

async function advance({ store, line, log, stopped = () => false }: SweepsDeps, id: string): Promise<void> {
  if ((await store.sweep(id))?.state === 'cancelled') {
    for (let from: number | null = 0; from !== null && !stopped(); ) {
      from = await store.cancelSweepChildren(id, from);
    }
    return;
  }
  for (let more = true; more && !stopped(); ) {
    const step = await store.expandSweep(id, makeChild);
    more = step.more;
    await join(step.made);
  }
  if (!stopped()) await join(await store.releaseSweep(id, makeChild));

  async function join(made: readonly SweptExperiment[]): Promise<void> {
    const joining = made.map(({ experiment, priority }) => line.join(experiment, priority));
    await Promise.all(joining).catch((error: Error) => {
      log.warn({ err: error, sweep: id }, 'no jobs yet for children of a sweep; the reconciler adds them');
    });
  }
}
