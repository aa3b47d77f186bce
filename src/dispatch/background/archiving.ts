import type { Store } from '../../store/store.ts';
import { each, type Round } from './each.ts';

/** Streams archived in one step. */
const AT_ONCE = 50;
/** Experiments looked at in one step for what an earlier version ended. */
const SEEDED_AT_ONCE = 1_000;
/** So often the whole list is walked for those. */
const SEED_MS = 24 * 3600 * 1000;

/**
 * Moves the streams of experiments that ended `afterMs` ago or earlier into the archive. Every dispatcher may: each takes
 * some for `leaseMs`, and two that archive one stream do no harm.
 */
export async function archiveEnded(
  { store, ...round }: Round & { store: Pick<Store, 'takeArchiving' | 'archiveStream'> },
  times: { leaseMs: number; afterMs: number },
): Promise<void> {
  for (let more = true; more && !round.stopped(); ) {
    const ids = await store.takeArchiving({ limit: AT_ONCE, ...times });
    const archive = async (id: string) => (await store.archiveStream(id)) === 'archived';
    await each(round, ids, 'archiving a stream', archive);
    more = ids.length === AT_ONCE;
  }
}

/** Moves the oldest of long streams into the archive: what runs keeps only the newest in Redis, which would fill up else. */
export async function rollLong({
  store,
  ...round
}: Round & { store: Pick<Store, 'longStreams' | 'rollStream'> }): Promise<void> {
  const roll = async (id: string) => (await store.rollStream(id)) > 0;
  const done = await each(round, await store.longStreams(), 'archiving the oldest of a stream', roll);
  if (done > 0) round.log.info({ experiments: done }, 'the oldest of long streams were archived');
}

/** Finds, once a day, the experiments that a version without an archive ended: they are archived like the others. */
export function createSeeding({
  store,
  now,
  log,
  stopped,
}: Round & { store: Pick<Store, 'seedArchiving'>; now: () => number }): () => Promise<void> {
  let seededAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (now() - seededAt < SEED_MS) return;
    let cursor: string | null = null;
    do {
      const { added, next } = await store.seedArchiving(cursor, SEEDED_AT_ONCE);
      if (added > 0) log.info({ experiments: added }, 'experiments that ended earlier will be archived');
      cursor = next;
    } while (cursor !== null && !stopped());
    seededAt = now();
  };
}
