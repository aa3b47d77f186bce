import { endOfRun } from '../../engines/external-run.ts';
import type { Store } from '../../store/store.ts';
import type { Log } from '../log.ts';

/** Runs ended in one step. */
const RUNS_AT_ONCE = 100;
/** After a start no run is ended for this time: clients that could not reach the api return first. */
const RETURN_MS = 60_000;

/**
 * Ends external runs whose clients were silent for too long, and those that are being cancelled. Several dispatchers may do
 * so at the same time. A run that is not ended here is taken again a minute later.
 */
export function createSilentRuns({
  store,
  log,
  returnMs = RETURN_MS,
}: {
  store: Pick<Store, 'attempts' | 'runs'>;
  log: Log;
  returnMs?: number;
}): () => Promise<void> {
  const startedAt = performance.now();
  return async () => {
    if (performance.now() - startedAt < returnMs) return;
    for (const { lease, ended } of await store.runs.takeSilent(RUNS_AT_ONCE)) {
      const state = await store.attempts.end(lease, endOfRun(ended));
      log.info({ experiment: lease.experiment, state }, 'ended an external run');
    }
  };
}
