import { rankOf } from '../core/priority-class.ts';
import type { StartEstimate } from '../schemas/answer-parts.ts';
import type { QueuedExperiment, WaitNote } from '../store/queue/types.ts';
import { estimateStarts } from './estimate.ts';
import type { Span } from './nodes.ts';
import { type ScheduleInput, scheduleRound } from './schedule.ts';
import { waitNotes } from './wait-notes.ts';

/*
 * What-if answers: the scheduling round and the estimates are made twice on the same figures, once as the queue is, and once
 * with a further experiment or another priority. Both are pure functions, so nothing changes.
 */

/** An experiment as it would be queued, and its expected run time; null: not known. */
export interface Change {
  item: QueuedExperiment;
  length: Span | null;
}

/** The result of a scheduling round for one experiment: it starts now, or it waits. Undefined: the round ended before it. */
export type Outcome = { startsNow: true; estimate: StartEstimate } | ({ startsNow: false } & WaitNote);

/** A queued experiment that would start at another time. */
export interface Shift {
  item: QueuedExperiment;
  /** Expected start without the change. */
  from: StartEstimate;
  /** Expected start with the change; null if it would not be known any more. */
  to: StartEstimate | null;
}

/** The effect of a change. */
interface WhatIf {
  before: Outcome | undefined;
  after: Outcome | undefined;
  shifts: Shift[];
}

/** What the next scheduling round would find if the item was queued as given, in place of the queued one of the same id. */
export function whatIf(input: ScheduleInput, change: Change): WhatIf {
  const before = outcomesOf(input);
  const changed = withChange(input, change);
  const after = changed === undefined ? before : outcomesOf(changed);
  const id = change.item.experiment;
  const shifts = input.queued.flatMap((item): Shift[] => {
    const [from, to] = [before, after].map((all) => all.get(item.experiment)?.estimate ?? null);
    if (item.experiment === id || from == null || to?.startAt === from.startAt) return [];
    return [{ item, from, to: to ?? null }];
  });
  return { before: before.get(id), after: changed && after.get(id), shifts };
}

function outcomesOf(input: ScheduleInput): Map<string, Outcome> {
  const schedule = scheduleRound(input);
  const now = input.now ?? 0;
  const estimate = { startAt: now, earliest: now, latest: now };
  const starting = schedule.start.map(({ experiment }): [string, Outcome] => [
    experiment,
    { startsNow: true, estimate },
  ]);
  const waiting = [...waitNotes(schedule, estimateStarts(input, schedule))].map(
    ([id, note]): [string, Outcome] => [id, { startsNow: false, ...note }],
  );
  return new Map([...starting, ...waiting]);
}

/** Undefined: the place of the item is after the window of its project. */
function withChange(input: ScheduleInput, { item, length }: Change): ScheduleInput | undefined {
  const rest = input.queued.filter(({ experiment }) => experiment !== item.experiment);
  const at = rest.findIndex((other) => isBefore(item, other));
  const place = at === -1 ? rest.length : at;
  const isLast = !rest.slice(place).some(({ project }) => project === item.project);
  if (isLast && input.truncated?.has(item.project)) return undefined;
  const lengths = new Map(input.lengths);
  if (length !== null) lengths.set(item.experiment, length);
  return { ...input, queued: rest.toSpliced(place, 0, item), lengths };
}

/** By class and priority, then by arrival. */
function isBefore(a: QueuedExperiment, b: QueuedExperiment): boolean {
  if (rankOf(a) !== rankOf(b)) return rankOf(a) > rankOf(b);
  return (a.arrival ?? Number.POSITIVE_INFINITY) < (b.arrival ?? Number.POSITIVE_INFINITY);
}
