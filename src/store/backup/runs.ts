import { randomUUID } from 'node:crypto';
import { EchelonError } from '../../core/errors.ts';
import type { ListedArchive } from '../archive/archive.ts';
import { digestOf } from '../archive/archive-keys.ts';

/*
 * A command that writes to a place of backups marks it: an owner of its own, whose objects are the times at which it was alive.
 * Backups may run beside each other; a prune runs alone, because it deletes objects that no manifest names yet.
 */

type Kind = 'create' | 'prune';

const MARK = /^backup-(create|prune)-[0-9a-f]{12}$/;
/** A run without a sign of life for this time is over; it ends by itself after half of it. */
const LOST_MS = 10 * 60_000;
const RENEW_MS = LOST_MS / 10;

/**
 * Acts with a mark in the place. `alive` throws EchelonError `store-unavailable` if this process stood still for so long that
 * another may have ignored its mark. The same if a run that must not be beside it is alive.
 */
export async function duringRun<T>(
  place: ListedArchive,
  { kind, now }: { kind: Kind; now: () => number },
  act: (alive: () => void) => Promise<T>,
): Promise<T> {
  const owner = `backup-${kind}-${randomUUID().slice(-12)}`;
  let renewedAt = now();
  let lost = false;
  const alive = () => {
    lost ||= now() - renewedAt > LOST_MS / 2;
    if (lost)
      throw new EchelonError(
        'store-unavailable',
        'This process or the place stood still for minutes. Run the command again.',
      );
  };
  const renew = async () => {
    alive();
    const at = now();
    const bytes = Buffer.from(String(at));
    await place.put(owner, digestOf(bytes), bytes);
    renewedAt = at;
  };
  let renewing = renew();
  await renewing;
  const timer = setInterval(() => {
    // The next call of `alive` decides.
    renewing = renew().catch(() => {});
  }, RENEW_MS);
  try {
    await refuseOthers(place, { owner, kind, now: now() });
    return await act(alive);
  } finally {
    clearInterval(timer);
    await renewing;
    // Else it is ignored after a while.
    await place.remove(owner).catch(() => {});
  }
}

async function refuseOthers(
  place: ListedArchive,
  { owner, kind, now }: { owner: string; kind: Kind; now: number },
): Promise<void> {
  const newest = new Map<string, number>();
  for await (const one of place.list()) {
    if (!MARK.test(one.owner) || one.owner === owner) continue;
    const at = Number(Buffer.from(await place.get(one.owner, one.digest)).toString());
    newest.set(one.owner, Math.max(at, newest.get(one.owner) ?? 0));
  }
  for (const [other, at] of newest) {
    const isOver = now - at > LOST_MS;
    if (isOver && kind === 'prune') await place.remove(other);
    if (isOver || (kind === 'create' && MARK.exec(other)![1] === 'create')) continue;
    throw new EchelonError(
      'store-unavailable',
      `\`echelon backup ${MARK.exec(other)![1]}\` was alive in this place at ${new Date(at).toISOString()}. Wait for its end; if it was killed, wait ${LOST_MS / 60_000} minutes.`,
    );
  }
}

/** Whether an owner is the mark of a run. */
export function isRun(owner: string): boolean {
  return MARK.test(owner);
}
