import { type Static, Type } from 'typebox';
import { STATES } from '../core/states.ts';
import { Count, CountOf, Instant, nullable, oneOf, Text } from './answer-parts.ts';
import { NamedObject, StrictObject } from './objects.ts';
import { count, text } from './optional-fields.ts';
import { Name } from './spec-parts.ts';

/** The kinds of events that a subscription can name. */
export const NOTIFIED = [
  'state',
  'wrong-rows',
  'rule',
  'waiting',
  'cluster-silent',
  'checkpoint',
  'sweep-finished',
] as const;

/** Subscriptions of one project at most. */
export const MAX_SUBSCRIPTIONS = 16;
/** Messages of a project that wait for their delivery at most, but for the own places of each subscription. */
export const MAX_PENDING = 5000;
/** Messages of one subscription that can always wait, whatever those of others are. */
export const OWN_PENDING = 300;
/** Dead letters of one subscription that are retained at most: the newest. */
export const MAX_DEAD = 100;
/** Attempts to deliver that are listed at most: the newest. */
export const MAX_LOG = 50;

const SECRET = {
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$',
  description:
    'Name of a secret: the file PROJECT/NAME in the directory ECHELON_NOTIFY_SECRETS_DIR of the dispatchers.',
};

/** No `%`, `!` or quotes in the name: old servers read another domain from them. */
const MAIL_ADDRESS = "^[\\p{L}\\p{N}.+_'=~/{}^|*?$#&-]+@[A-Za-z0-9.-]+$";

const Target = Type.Union([
  StrictObject({
    kind: Type.Literal('webhook'),
    url: Type.String({
      maxLength: 2000,
      pattern: '^https?://[^\\s/@?#]+([/?][^\\s#]*)?$',
      description: 'URL that receives each message as a POST in the format of Standard Webhooks.',
    }),
    secret: Type.String({
      ...SECRET,
      description: `${SECRET.description} It holds the key of the signatures, as whsec_BASE64.`,
    }),
  }),
  StrictObject({
    kind: oneOf(['slack', 'teams']),
    secret: Type.String({ ...SECRET, description: `${SECRET.description} It holds the URL of the webhook.` }),
  }),
  StrictObject({
    kind: Type.Literal('email'),
    to: Type.Array(Type.String({ maxLength: 254, pattern: MAIL_ADDRESS }), {
      minItems: 1,
      maxItems: 5,
      uniqueItems: true,
      description: 'Addresses of the recipients, in the domains of ECHELON_MAIL_DOMAINS.',
    }),
    everyMinutes: count(
      1,
      1440,
      'Minimum number of minutes between two e-mails. Messages of this time are in one e-mail. Default: 10.',
    ),
  }),
]);

const filter = {
  events: Type.Array(oneOf(NOTIFIED), {
    minItems: 1,
    uniqueItems: true,
    description:
      'Kinds of events: `state` (an experiment changed its state), `wrong-rows` (a report shows a wrong training signal: wrong rows, or a batch that contradicts itself or its parameters), `rule` (a rule fired), `waiting` (an experiment is queued for longer than `waitMinutes`), `cluster-silent`, `checkpoint`, `sweep-finished`.',
  }),
  states: Type.Optional(
    Type.Array(oneOf(STATES), {
      minItems: 1,
      uniqueItems: true,
      description: 'Of `state`, only changes to these states. Default: all.',
    }),
  ),
  waitMinutes: count(1, 10_080, 'Minutes in the queue before `waiting` is sent. Default: 60.'),
  tags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 63 }), {
      minItems: 1,
      maxItems: 20,
      uniqueItems: true,
      description: 'Only experiments with one of these tags. Events of clusters and sweeps have no tags.',
    }),
  ),
  owner: text(1, 100, 'Only experiments that this API key or person submitted.'),
};

/** The body of POST /v1/subscriptions. */
export const SubscriptionInput = NamedObject('SubscriptionInput', {
  project: Type.Optional(Name),
  ...filter,
  target: Target,
});
export type SubscriptionInput = Static<typeof SubscriptionInput>;

/** A subscription: which events of a project are sent where. */
export const Subscription = NamedObject('Subscription', {
  id: Text('Id of the subscription.'),
  project: Name,
  ...filter,
  target: Target,
  createdAt: Instant,
  createdBy: Text('Name of the caller.'),
});
export type Subscription = Static<typeof Subscription>;

/** The subscriptions of a project, the oldest first. */
export const SubscriptionList = NamedObject('SubscriptionList', {
  items: Type.Array(Type.Unsafe<Subscription>({ $ref: 'Subscription#' })),
});

const Message = {
  message: Text('Id of the message; the same in every attempt to deliver it.'),
  type: Text('Kind of the event, `test`, or `gap`: messages that were not retained.'),
  at: Instant,
};

/** The deliveries of a subscription. */
export const Deliveries = NamedObject('Deliveries', {
  items: Type.Array(
    StrictObject({
      ...Message,
      outcome: oneOf(['delivered', 'failed', 'dead', 'gone']),
      tries: Type.Integer({ minimum: 1, description: 'Number of this attempt.' }),
      reason: nullable(Text('Why it failed; null if it was delivered.')),
    }),
    { description: `The last ${MAX_LOG} attempts, newest first.` },
  ),
  pending: CountOf('Messages that wait for their delivery.'),
  dropped: CountOf('Messages that were not retained; the next message states them.'),
  nextAt: nullable(Instant, {
    description: 'Time of the next attempt; null if nothing is pending, or it is disabled.',
  }),
  disabled: nullable(
    Text(
      'Why nothing is sent: its receiver answered 410 Gone. Messages stay pending. Sending the dead letters again ends it. Null: it is not disabled.',
    ),
  ),
  dead: Type.Array(StrictObject(Message), {
    description: `Dead letters: messages that were not delivered for three days. The newest ${MAX_DEAD}.`,
  }),
});
export type Deliveries = Static<typeof Deliveries>;

/** The answer to a test or to sending dead letters again. */
export const MessagesQueued = NamedObject('MessagesQueued', {
  queued: { ...Count, description: 'Number of messages that now wait for their delivery.' },
});

/** The addresses that an operator does not allow: those whose domain is not one of `domains`, in lower case. */
export function refusedAddresses(to: readonly string[], domains: readonly string[]): string[] {
  return to.filter((one) => !domains.includes(one.slice(one.lastIndexOf('@') + 1).toLowerCase()));
}
