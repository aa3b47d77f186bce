import type { Store } from '../../store/store.ts';
import { type BackgroundWork, forEachExperiment } from './for-each-experiment.ts';

/** Experiments in one step. */
const AT_ONCE = 50;

/**
 * Moves the streams of experiments that ended at least `afterMs` ago into the archive. Every dispatcher does so: each
 * takes some experiments for `leaseMs`, and two dispatchers may archive the same stream.
 */
export async function archiveEnded(
  { store, ...round }: BackgroundWork & { store: Pick<Store, 'archive' | 'metrics'> },
  times: { leaseMs: number; afterMs: number },
): Promise<void> {
  for (let more = true; more && !round.stopped(); ) {
    const ids = await store.archive.take({ limit: AT_ONCE, ...times });
    const archive = async (id: string) => (await store.archive.archiveStream(id)) === 'archived';
    await forEachExperiment(round, ids, 'archiving a stream', archive);
    more = ids.length === AT_ONCE;
  }
}

/** Moves the oldest events of long streams into the archive, so that running experiments do not fill Redis. */
export async function rollLong({
  store,
  ...round
}: BackgroundWork & { store: Pick<Store, 'archive' | 'metrics'> }): Promise<void> {
  const roll = async (id: string) => (await store.archive.rollStream(id)) > 0;
  const done = await forEachExperiment(
    round,
    await store.archive.longStreams(),
    'archiving the oldest of a stream',
    roll,
  );
  if (done > 0) round.log.info({ experiments: done }, 'the oldest of long streams were archived');
}

/** Compacts the newest values of metrics wherever many have come. Every dispatcher does so. */
export async function compactSeries({
  store,
  ...round
}: BackgroundWork & { store: Pick<Store, 'archive' | 'metrics'> }): Promise<void> {
  for (let more = true; more && !round.stopped(); ) {
    const ids = await store.metrics.takeDue(AT_ONCE);
    await forEachExperiment(round, ids, 'compacting a metric series', (id) => store.metrics.compact(id));
    more = ids.length === AT_ONCE;
  }
}
