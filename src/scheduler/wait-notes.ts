import type { WaitNote } from '../store/queue/types.ts';
import type { EstimatedStart } from './estimate.ts';
import type { Schedule } from './schedule.ts';

/** The wait reason, queue position and estimated start of every experiment that the schedule considered and did not start. */
export function waitNotes(
  { order, reasons, heads }: Schedule,
  estimates: ReadonlyMap<string, EstimatedStart>,
): Map<string, WaitNote> {
  const notes = new Map<string, WaitNote>();
  for (const { experiment } of order) {
    const reason = reasons.get(experiment);
    if (reason === undefined) continue;
    const found = estimates.get(experiment);
    notes.set(experiment, { reason, rank: notes.size + 1, ...toNote(found, heads.has(experiment)) });
  }
  return notes;
}

function toNote(
  found: EstimatedStart | undefined,
  isHead: boolean,
): Pick<WaitNote, 'estimate' | 'unknown' | 'place'> {
  if (found === undefined) return { estimate: null };
  if (found.at === null) return { estimate: null, unknown: found.why };
  const [startAt, earliest, latest] = [found.at.likely, found.at.early, found.at.late].map(Math.round);
  const { cluster, nodes, ends } = found.on;
  const endAt = ends === null ? null : Math.round(ends.likely);
  return {
    estimate: { startAt: startAt!, earliest: earliest!, latest: latest! },
    place: { cluster, nodes, endAt, isHead },
  };
}
