import { isWrong } from 'echelon-verify/report';
import type { FeedEntry } from '../../core/events.ts';
import type { Message, StoredSubscription, Subject } from '../../store/subscriptions/subscriptions.ts';

/** Default of `waitMinutes`. */
const WAIT_MINUTES = 60;
/** So much of a reason is sent. */
const MAX_REASON = 500;

type Kind = StoredSubscription['events'][number];

/** The kind of a feed's entry, and what is sent of it; undefined: nothing is sent of it. */
function factOf({ event }: FeedEntry): { kind: Kind; data: Record<string, unknown> } | undefined {
  switch (event.type) {
    case 'state': {
      const { from, to, attempt, reason } = event;
      return { kind: 'state', data: { from, to, attempt, reason: reason.slice(0, MAX_REASON) } };
    }
    case 'verification': {
      const { attempt, batch, step, rows, wrong, unverifiable, errors } = event;
      if (!isWrong(event)) return undefined;
      const data = { attempt, batch, step, rows, wrong, unverifiable, errors: errors.slice(0, 20) };
      return { kind: 'wrong-rows', data };
    }
    case 'rule': {
      const { rule, do: action, attempt, step, reason } = event;
      return { kind: 'rule', data: { rule, do: action, attempt, step, reason: reason.slice(0, MAX_REASON) } };
    }
    case 'checkpoint':
      return { kind: 'checkpoint', data: { step: event.step, path: event.path.slice(0, MAX_REASON) } };
    case 'cluster':
      return { kind: 'cluster-silent', data: { since: event.since } };
    case 'sweep': {
      const { state, counts } = event;
      const open = counts.queued + counts.launching + counts.running + counts.cancelling;
      return state === 'running' || open > 0
        ? undefined
        : { kind: 'sweep-finished', data: { state, counts } };
    }
    default:
      return undefined;
  }
}

/** Whether a filter on owner or tags lets an experiment pass. A deleted one passes: no event is lost by a deletion. */
function passes(
  { owner, tags }: StoredSubscription,
  entry: FeedEntry,
  subject: Subject | undefined,
): boolean {
  if (owner === undefined && tags === undefined) return true;
  if (entry.experiment === null) return false;
  if (subject === undefined) return true;
  return (
    (owner === undefined || owner === subject.owner) &&
    (tags === undefined || tags.some((tag) => subject.tags.includes(tag)))
  );
}

/** The message that a subscription gets of an entry of its project's feed; undefined: none. Its id follows from both. */
export function messageOf(
  subscription: StoredSubscription,
  entry: FeedEntry,
  subject: Subject | undefined,
): Message | undefined {
  if (Number(entry.id) <= subscription.since) return undefined;
  const fact = factOf(entry);
  if (fact === undefined || !subscription.events.includes(fact.kind)) return undefined;
  const { states } = subscription;
  if (fact.kind === 'state' && states && !states.includes(fact.data.to as never)) return undefined;
  if (!passes(subscription, entry, subject)) return undefined;
  const { project, experiment, name, sweep } = entry;
  return {
    id: `${subscription.id}-${entry.id}`,
    type: fact.kind,
    at: entry.at,
    data: { project, experiment, name, sweep, ...fact.data },
  };
}

/** How an entry changes the wait of its experiment for a subscription; undefined: it does not. */
export function waitOf(
  subscription: StoredSubscription,
  entry: FeedEntry,
  subject: Subject | undefined,
): { member: string; at?: number } | undefined {
  const { event, experiment, project } = entry;
  if (!subscription.events.includes('waiting') || event.type !== 'state' || experiment === null)
    return undefined;
  if (Number(entry.id) <= subscription.since) return undefined;
  const member = `${project} ${subscription.id} ${experiment}`;
  if (event.to !== 'queued') return event.from === 'queued' ? { member } : undefined;
  if (!passes(subscription, entry, subject)) return undefined;
  return { member, at: entry.at + (subscription.waitMinutes ?? WAIT_MINUTES) * 60_000 };
}

/** The message of a wait that became too long. */
export function waitMessage(
  subscription: StoredSubscription,
  id: string,
  { name, sweep, now }: Pick<Subject, 'name' | 'sweep'> & { now: number },
): Message {
  const { project, waitMinutes = WAIT_MINUTES } = subscription;
  return {
    id: `${subscription.id}-wait-${id.slice(4)}-${now}`,
    type: 'waiting',
    at: now,
    data: { project, experiment: id, name, sweep, waitMinutes },
  };
}

/** The time between two deliveries of a subscription in ms. */
export function everyMs({ target }: StoredSubscription): number {
  return target.kind === 'email' ? (target.everyMinutes ?? 10) * 60_000 : 0;
}
