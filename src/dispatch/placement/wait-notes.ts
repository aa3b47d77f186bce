import { type EstimatedStart, estimateStarts } from '../../scheduler/estimate.ts';
import { waitNotes } from '../../scheduler/wait-notes.ts';
import type { ExpectedPlace } from '../../schemas/answer-parts.ts';
import type { QueuedExperiment, WaitNote } from '../../store/queue/types.ts';
import type { Store } from '../../store/store.ts';
import type { Elapsed, RoundDecision } from './round-decision.ts';

/** Up to this many notes are written at once; more notes are written only once in the time below. */
const FEW_NOTES = 16;
const MANY_NOTES_MS = 1_000;
/** Minimum time between two estimates. */
const ESTIMATES_MS = 1_000;
/** A new estimate is written if it moved by more than both of these: a time, and a share of the time until the start. */
const MOVED_MS = 5_000;
const MOVED_SHARE = 0.03;

/** Writes the wait reason, queue position and estimated start of every queued experiment for which one has changed. */
export function createWaitNotes(deps: {
  store: Pick<Store, 'queue'>;
  elapsed: Elapsed;
}): (decision: RoundDecision) => Promise<void> {
  let writtenAt = Number.NEGATIVE_INFINITY;
  let estimatedAt = Number.NEGATIVE_INFINITY;
  let estimates = new Map<string, EstimatedStart>();
  return async ({ input, schedule, queued }) => {
    const at = deps.elapsed();
    const { now = 0 } = input;
    if (at - estimatedAt >= ESTIMATES_MS) {
      estimates = estimateStarts(input, schedule);
      estimatedAt = at;
    }
    const known = new Map(queued.map((item) => [item.experiment, item]));
    const changed = new Map(
      [...waitNotes(schedule, estimates)].filter(([id, note]) => hasChanged(known.get(id)!, note, now)),
    );
    if (changed.size === 0) return;
    // In a long queue every start changes all notes. A later round then writes them, so that starts come first.
    if (changed.size > FEW_NOTES && at - writtenAt < MANY_NOTES_MS) return;
    writtenAt = at;
    await deps.store.queue.note(changed);
  };
}

function hasChanged(item: QueuedExperiment, note: WaitNote, now: number): boolean {
  if (item.reason !== note.reason || item.rank !== note.rank) return true;
  const [was, is] = [item.estimate ?? null, note.estimate ?? null];
  if (was === null || is === null) return was !== is || (item.unknown ?? undefined) !== note.unknown;
  if ((['startAt', 'earliest', 'latest'] as const).some((time) => hasMoved(was[time], is[time], now)))
    return true;
  return note.place !== undefined && (item.place == null || isElsewhere(item.place, note.place, now));
}

function isElsewhere(was: ExpectedPlace, is: ExpectedPlace, now: number): boolean {
  if (was.cluster !== is.cluster || was.isHead !== is.isHead || `${was.nodes}` !== `${is.nodes}`) return true;
  if (was.endAt === null || is.endAt === null) return was.endAt !== is.endAt;
  return hasMoved(was.endAt, is.endAt, now);
}

function hasMoved(was: number, is: number, now: number): boolean {
  return Math.abs(was - is) > Math.max(MOVED_MS, MOVED_SHARE * (is - now));
}
