import { type Estimate, estimate } from '../../scheduler/estimate.ts';
import type { StartEstimate, Waiting, WaitNote } from '../../store/queue/contract.ts';
import type { StorePart } from '../../store/store.ts';
import type { RoundDecision } from './round-decision.ts';

/** So many notes are written at once; more of them only this often. */
const FEW_NOTES = 16;
const MANY_NOTES_MS = 1_000;
/** Estimates are made anew at most so often. */
const ESTIMATES_MS = 1_000;
/** An estimate that moved by less than this, and by less than this share of the time until then, is no news. */
const NEWS_MS = 5_000;
const NEWS_SHARE = 0.03;

/** Says of everybody that waits why, at which place, and when it is expected to start; writes what has changed. */
export function createWaitNotes(deps: {
  store: StorePart<'queue.note'>;
  now: () => number;
}): (decision: RoundDecision) => Promise<void> {
  let saidAt = Number.NEGATIVE_INFINITY;
  let estimatedAt = Number.NEGATIVE_INFINITY;
  let estimates = new Map<string, Estimate>();
  return async ({ input, schedule, waiting }) => {
    const now = deps.now();
    if (now - estimatedAt >= ESTIMATES_MS) {
      estimates = estimate(input, schedule);
      estimatedAt = now;
    }
    const known = new Map(waiting.map((item) => [item.experiment, item]));
    const changed = new Map<string, WaitNote>();
    let rank = 0;
    for (const { experiment } of schedule.order) {
      const reason = schedule.reasons.get(experiment);
      if (reason === undefined) continue;
      rank += 1;
      const note = { reason, rank, ...toNote(estimates.get(experiment)) };
      if (isNews(known.get(experiment)!, note, now)) changed.set(experiment, note);
    }
    if (changed.size === 0) return;
    // In a long line every start changes everybody's note: then a later round says it, so that starts come first.
    if (changed.size > FEW_NOTES && now - saidAt < MANY_NOTES_MS) return;
    saidAt = now;
    await deps.store.queue.note(changed);
  };
}

function toNote(found: Estimate | undefined): Pick<WaitNote, 'estimate' | 'unknown'> {
  if (found === undefined) return { estimate: null };
  if (found.at === null) return { estimate: null, unknown: found.why };
  const [startAt, earliest, latest] = [found.at.likely, found.at.early, found.at.late].map(Math.round);
  return { estimate: { startAt: startAt!, earliest: earliest!, latest: latest! } };
}

function isNews(item: Waiting, note: WaitNote, now: number): boolean {
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
  return Math.abs(was[time] - is[time]) > Math.max(NEWS_MS, NEWS_SHARE * (is[time] - now));
}
