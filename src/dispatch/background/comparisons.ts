import type { Store } from '../../store/store.ts';
import type { Log } from '../log.ts';

/** Comparisons in one round. */
const AT_ONCE = 100;

interface Deps {
  store: Pick<Store, 'comparisons'>;
  log: Log;
  stopped?: () => boolean;
}

/**
 * A round that records the ended runs of comparisons, so that retention takes no game of a result. Several dispatchers may do so at the
 * same time. A failure for one comparison is logged and stops no other.
 */
export async function recordComparisons({ store, log, stopped = () => false }: Deps): Promise<void> {
  for (const id of await store.comparisons.withEndedRuns(AT_ONCE)) {
    if (stopped()) return;
    try {
      await store.comparisons.recordRuns(id);
    } catch (error) {
      log.warn(
        { err: error, comparison: id },
        'the runs of a comparison cannot be recorded; they are tried again',
      );
    }
  }
}
