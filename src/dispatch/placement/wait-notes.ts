import { type EstimatedStart, estimateStarts } from '../../scheduler/estimate.ts';
import type { QueuedExperiment, StartEstimate, WaitNote } from '../../store/queue/contract.ts';
import type { StorePart } from '../../store/store.ts';
import type { RoundDecision } from './round-decision.ts';

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
  store: StorePart<'queue.note'>;
  now: () => number;
}): (decision: RoundDecision) => Promise<void> {
  let writtenAt = Number.NEGATIVE_INFINITY;
  let estimatedAt = Number.NEGATIVE_INFINITY;
  let estimates = new Map<string, EstimatedStart>();
  return async ({ input, schedule, queued }) => {
    const now = deps.now();
    if (now - estimatedAt >= ESTIMATES_MS) {
      estimates = estimateStarts(input, schedule);
      estimatedAt = now;
    }
    const known = new Map(queued.map((item) => [item.experiment, item]));
    const changed = new Map<string, WaitNote>();
    let rank = 0;
    for (const { experiment } of schedule.order) {
      const reason = schedule.reasons.get(experiment);
      if (reason === undefined) continue;
      rank += 1;
      const note = { reason, rank, ...toNote(estimates.get(experiment)) };
      if (hasChanged(known.get(experiment)!, note, now)) changed.set(experiment, note);
    }
    if (changed.size === 0) return;
    // In a long queue every start changes all notes. A later round then writes them, so that starts come first.
    if (changed.size > FEW_NOTES && now - writtenAt < MANY_NOTES_MS) return;
    writtenAt = now;
    await deps.store.queue.note(changed);
  };
}

function toNote(found: EstimatedStart | undefined): Pick<WaitNote, 'estimate' | 'unknown'> {
  if (found === undefined) return { estimate: null };
  if (found.at === null) return { estimate: null, unknown: found.why };
  const [startAt, earliest, latest] = [found.at.likely, found.at.early, found.at.late].map(Math.round);
  return { estimate: { startAt: startAt!, earliest: earliest!, latest: latest! } };
}

function hasChanged(item: QueuedExperiment, note: WaitNote, now: number): boolean {
  if (item.reason !== note.reason || item.rank !== note.rank) return true;
  const [was, is] = [item.estimate ?? null, note.estimate ?? null];
  if (was === null || is === null) return was !== is || (item.unknown ?? undefined) !== note.unknown;
  return (['startAt', 'earliest', 'latest'] as const).some((time) => hasMoved(was, is, { time, now }));
}

function hasMoved(
  was: StartEstimate,
  is: StartEstimate,
  { time, now }: { time: keyof StartEstimate; now: number },
): boolean {
  return Math.abs(was[time] - is[time]) > Math.max(MOVED_MS, MOVED_SHARE * (is[time] - now));
}
