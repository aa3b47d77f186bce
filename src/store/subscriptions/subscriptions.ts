import { EchelonError } from '../../core/errors.ts';
import { SUBSCRIPTION_ID } from '../../core/ids.ts';
import { DEFAULT_PROJECT } from '../../schemas/project.ts';
import {
  type Deliveries,
  MAX_DEAD,
  MAX_LOG,
  MAX_SUBSCRIPTIONS,
  type Subscription,
} from '../../schemas/subscription.ts';
import type { StoreContext } from '../context.ts';
import { guarded, runAll } from '../redis/errors.ts';

/*
 * Invariants: the subscriptions of a project read each entry of its feed once, in order; a message enters an outbox in the
 * step that advances their cursor; it leaves the outbox when its delivery has ended, and its id never changes.
 */

/** A subscription as it is stored; `since`: number of the last entry of the feed that it does not get. */
export type StoredSubscription = Subscription & { since: number };

/** What is sent: an event of a project, a `test`, or a `gap` of `dropped` messages. `id` is the same in every attempt. */
export interface Message {
  id: string;
  type: string;
  /** Time of the event in ms since 1970. */
  at: number;
  data: Record<string, unknown>;
}

/** The new messages of a project's subscriptions. */
export interface SubscriptionAdvance {
  project: string;
  /** The cursor as it was read, and the new one; null: no entry was read. */
  read: { cursor: string; last: string; missed: number } | null;
  /** `wait`: the due wait that a message, or nothing, takes the place of. */
  messages: readonly { subscription: string; message?: Message; everyMs: number; wait?: string }[];
  /** Experiments that began to wait (`at`: when the wait is too long), or left the queue. */
  waits: readonly { member: string; at?: number }[];
}

/** A delivery that has begun. `token` names it at its end. */
export interface Delivery {
  subscription: StoredSubscription;
  token: string;
  /** Failed attempts so far. */
  tries: number;
  messages: Message[];
  /** How long the first message has been pending. */
  pendingMs: number;
}

/** How often something may begin: one each `everyMs`, and up to `burst` at once. `of`: what the rate counts. */
export interface Rate {
  of: string;
  everyMs: number;
  burst: number;
}

/** How a delivery ended. `dead`: it is not tried again. `gone`: nothing is sent any more until the dead letters are sent again. */
export interface DeliveryEnd {
  outcome: Deliveries['items'][number]['outcome'];
  /** Time until the next attempt, or until the next message. */
  waitMs: number;
  reason: string | null;
}

/** Waits read at a time. */
const WAITS_AT_ONCE = 500;

/** Subscriptions: which events of projects are sent where, and what is not sent yet. */
export function createSubscriptions(context: StoreContext) {
  const { redis, keys, run } = context;
  return {
    ...createRecords(context),
    ...createOutboxes(context),

    /** Projects whose subscriptions have entries to read, with their cursors. */
    async unread(): Promise<{ project: string; cursor: string }[]> {
      const [cursors, newest] = (await runAll(
        redis.pipeline().hgetall(`${keys.root}:subscribed`).hgetall(keys.feeds),
      )) as [Record<string, string>, Record<string, string>];
      return Object.entries(cursors)
        .map(([project, cursor]) => ({ project, cursor }))
        .filter(({ project, cursor }) => Number(newest[`p:${project}`] ?? 0) > Number(cursor));
    },

    /** Waits that are too long now. */
    async dueWaits(
      now: number,
    ): Promise<{ member: string; project: string; subscription: string; id: string }[]> {
      const due = redis.zrangebyscore(`${keys.root}:waits`, '-inf', now, 'LIMIT', 0, WAITS_AT_ONCE);
      return (await guarded(due)).map((member) => {
        const [project, subscription, id] = member.split(' ') as [string, string, string];
        return { member, project, subscription, id };
      });
    },

    /** `moved`: another process has advanced them, and nothing was changed. */
    async advance({ project, read, messages, waits }: SubscriptionAdvance): Promise<'ok' | 'moved'> {
      const table = {
        project,
        missed: 0,
        ...read,
        messages: messages.map(({ message, ...one }) => ({
          ...one,
          ...(message && { message: JSON.stringify(message) }),
        })),
        waits,
      };
      return (await run('advance-subscriptions', [JSON.stringify(table)])) as 'ok' | 'moved';
    },
  };
}

function createRecords({ redis, keys, run }: StoreContext) {
  const projectOf = async (id: string) =>
    SUBSCRIPTION_ID.test(id) ? await guarded(redis.hget(`${keys.root}:subscription:${id}`, 'project')) : null;
  return {
    /** Throws EchelonError `limit-reached` or `project-not-found`. */
    async add(subscription: Omit<Subscription, 'createdAt'>): Promise<void> {
      const { project, id } = subscription;
      const args = [project, id, JSON.stringify(subscription), MAX_SUBSCRIPTIONS, DEFAULT_PROJECT];
      const outcome = await run('add-subscription', args);
      if (outcome === 'full')
        throw new EchelonError(
          'limit-reached',
          `The project ${project} has ${MAX_SUBSCRIPTIONS} subscriptions, the most; remove one first.`,
        );
      if (outcome !== 'ok') throw new EchelonError('project-not-found', `There is no project ${project}.`);
    },

    /** `of`: the project that it must belong to; null: any. */
    async get(id: string, of: string | null = null): Promise<StoredSubscription | undefined> {
      const project = await projectOf(id);
      if (project === null || (of !== null && of !== project)) return undefined;
      const text = await guarded(redis.hget(`${keys.root}:subscriptions:${project}`, id));
      return text === null ? undefined : (JSON.parse(text) as StoredSubscription);
    },

    /** The subscriptions of a project, the oldest first. */
    async list(project: string): Promise<StoredSubscription[]> {
      const all = await guarded(redis.hvals(`${keys.root}:subscriptions:${project}`));
      return all
        .map((text) => JSON.parse(text) as StoredSubscription)
        .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    },

    /** False: there is none. */
    async remove({ project, id }: Pick<Subscription, 'project' | 'id'>): Promise<boolean> {
      return (await run('remove-subscription', [project, id])) === 1;
    },

    /** State, name, owner and tags of experiments, in their order; undefined for a deleted one. */
    async subjects(ids: readonly string[]): Promise<(Subject | undefined)[]> {
      const pipeline = redis.pipeline();
      for (const id of ids) pipeline.hmget(keys.experiment(id), 'state', 'name', 'owner', 'tags', 'sweep');
      const rows = (await runAll(pipeline)) as (string | null)[][];
      return rows.map(([state, name, owner, tags, sweep]) =>
        state == null
          ? undefined
          : {
              state,
              name: name ?? '',
              owner: owner ?? '',
              tags: tags ? tags.split('\n') : [],
              sweep: sweep || null,
            },
      );
    },
  };
}

/** What filters and waits read of an experiment. */
export interface Subject {
  state: string;
  name: string;
  owner: string;
  tags: string[];
  sweep: string | null;
}

function createOutboxes({ redis, keys, run }: StoreContext) {
  const at = (id: string, part: string) => `${keys.root}:subscription:${id}:${part}`;
  return {
    /** Subscriptions with a delivery that is due. */
    due: (now: number) =>
      guarded(redis.zrangebyscore(`${keys.root}:deliveries`, '-inf', now, 'LIMIT', 0, 1000)),

    /**
     * Begins the next delivery of at most `most` messages of one subscription; undefined: none is due, or its rates do not
     * allow one yet.
     */
    async begin(id: string, most: number, rates: readonly Rate[]): Promise<Delivery | undefined> {
      const reply = (await run('begin-delivery', [id, most, JSON.stringify(rates)])) as string[];
      const [subscription, tries, now, ...lines] = reply;
      if (subscription === undefined) return undefined;
      return {
        subscription: JSON.parse(subscription) as StoredSubscription,
        token: lines[0]!,
        tries: Number(tries),
        messages: lines.map(toMessage),
        pendingMs: Number(now) - Number.parseInt(lines[0]!, 10),
      };
    },

    /** Records how a delivery ended. False: another process has ended it. */
    async end({ subscription, token, tries, messages }: Delivery, end: DeliveryEnd): Promise<boolean> {
      const { outcome, waitMs, reason } = end;
      const log = messages
        .slice(-MAX_LOG)
        .map(({ id, type, at: time }) =>
          JSON.stringify({ message: id, type, at: time, outcome, tries: tries + 1, reason }),
        );
      const args = [subscription.id, token, outcome, Math.ceil(waitMs), MAX_LOG, MAX_DEAD, ...log];
      return (await run('end-delivery', args)) === 1;
    },

    /** Moves dead letters back to the outbox, and ends a disabling; returns how many messages are sent by it. */
    resend: async (id: string) => Number(await run('resend-dead', [id])),

    deliveries: async (id: string): Promise<Deliveries> =>
      toDeliveries(
        await runAll(
          redis
            .pipeline()
            .lrange(at(id, 'log'), 0, -1)
            .llen(at(id, 'outbox'))
            .hmget(`${keys.root}:subscription:${id}`, 'dropped', 'disabled')
            .zscore(`${keys.root}:deliveries`, id)
            .lrange(at(id, 'dead'), 0, -1),
        ),
      ),
  };
}

function toDeliveries(reply: unknown[]): Deliveries {
  const [log, pending, [dropped, disabled], nextAt, dead] = reply as [
    string[],
    number,
    [string | null, string | null],
    string | null,
    string[],
  ];
  return {
    items: log.map((text) => JSON.parse(text) as Deliveries['items'][number]),
    pending,
    dropped: Number(dropped ?? 0),
    nextAt: nextAt === null || disabled !== null ? null : Number(nextAt),
    disabled,
    dead: dead.map(toMessage).map((one) => ({ message: one.id, type: one.type, at: one.at })),
  };
}

/** A line of an outbox: the time since which the message is pending, and the message. */
function toMessage(line: string): Message {
  return JSON.parse(line.slice(line.indexOf(' ') + 1)) as Message;
}
