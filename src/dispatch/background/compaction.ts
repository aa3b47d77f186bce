import type { Store } from '../../store/store.ts';
import { type BackgroundWork, forEachExperiment } from './for-each-experiment.ts';

/** Experiments in one step. */
const AT_ONCE = 50;

/** Compacts the newest values of metrics wherever many have come. Every dispatcher does so. */
export async function compactSeries({ store, ...round }: BackgroundWork & { store: Store }): Promise<void> {
  for (let more = true; more && !round.stopped(); ) {
    const ids = await store.metrics.takeDue(AT_ONCE);
    await forEachExperiment(round, ids, 'compacting a metric series', (id) => store.metrics.compact(id));
    more = ids.length === AT_ONCE;
  }
}
