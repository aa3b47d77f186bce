import { EchelonError } from '../../../core/errors.ts';
import { newSubscriptionId } from '../../../core/ids.ts';
import type { Caller } from '../../../core/scopes.ts';
import { Text } from '../../../schemas/answer-parts.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import { DEFAULT_PROJECT } from '../../../schemas/project.ts';
import {
  MAX_SUBSCRIPTIONS,
  refusedAddresses,
  type Subscription,
  SubscriptionInput,
} from '../../../schemas/subscription.ts';
import type { Store } from '../../../store/store.ts';
import type { StoredSubscription } from '../../../store/subscriptions/subscriptions.ts';
import { projectOf } from '../../access/caller-projects.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { located } from '../../server/operation.ts';
import { route } from '../../server/route.ts';
import { ProjectQuery } from '../common.ts';

const Params = StrictObject({ id: Text('Id of the subscription.') });
const TAG = { tag: 'notifications' };

/** GET and POST /v1/subscriptions; GET and DELETE one, its deliveries, a test, and its dead letters again. */
export function addSubscriptions(app: App, deps: RouteDeps): void {
  addCreate(app, deps);
  addReads(app, deps);
  addRemove(app, deps);
  addSends(app, deps);
}

/** Throws EchelonError `not-found`, the same for a subscription of another project as for none. */
async function subscriptionOf(
  store: Pick<Store, 'subscriptions'>,
  caller: Caller,
  id: string,
): Promise<StoredSubscription> {
  const found = await store.subscriptions.get(id, caller.project);
  if (found === undefined)
    throw new EchelonError('not-found', `There is no subscription ${id.slice(0, 40)}.`);
  return found;
}

function view({ since: _since, ...subscription }: StoredSubscription): Subscription {
  return subscription;
}

/** Throws EchelonError `invalid-request` for a target whose URL cannot be one, such as for its port. */
function requireUrl(target: SubscriptionInput['target']): void {
  if (target.kind !== 'webhook' || URL.canParse(target.url)) return;
  const problems = [
    { field: '/target/url', message: 'is no URL; check its host, and its port: at most 65535' },
  ];
  throw new EchelonError('invalid-request', 'The target is no URL.', { problems });
}

function addCreate(app: App, { store, settings }: RouteDeps): void {
  route(app, {
    at: 'POST /v1/subscriptions',
    operationId: 'createSubscription',
    summary: 'Send events of a project to a webhook, a chat or e-mail',
    description: `Events that are recorded from now on are sent in their order, each at least once. Secrets are named, never sent. A project may have ${MAX_SUBSCRIPTIONS} subscriptions.`,
    ...TAG,
    body: SubscriptionInput,
    examples: {
      webhook: {
        events: ['state', 'wrong-rows'],
        states: ['failed'],
        target: { kind: 'webhook', url: 'https://example.com/hooks/echelon', secret: 'hook' },
      },
      email: { events: ['sweep-finished'], target: { kind: 'email', to: ['ml@example.com'] } },
    },
    answers: { 201: located('Created.', 'Subscription', 'Path of the subscription.') },
    problems: ['invalid-request', 'project-not-found', 'limit-reached'],
    handler: async ({ caller, body }, reply) => {
      requireUrl(body.target);
      if (body.target.kind === 'email') assertAllowed(body.target.to, settings.mailDomains ?? []);
      const asked = body.project ?? caller.project ?? DEFAULT_PROJECT;
      const { name: project } = await projectOf(store, caller, asked);
      const id = newSubscriptionId();
      await store.subscriptions.add({ ...body, id, project, createdBy: caller.name });
      return reply
        .code(201)
        .header('location', `/v1/subscriptions/${id}`)
        .send(view(await subscriptionOf(store, caller, id)));
    },
  });
}

/** Throws EchelonError `invalid-request` that names each address to which the operator does not allow e-mail. */
function assertAllowed(to: readonly string[], domains: readonly string[]): void {
  const message = `its domain must be one of ECHELON_MAIL_DOMAINS (${domains.join(', ') || 'none'}); ask an operator to add it`;
  const problems = refusedAddresses(to, domains).map((one) => ({
    field: `/target/to/${to.indexOf(one)}`,
    message,
  }));
  if (problems.length > 0)
    throw new EchelonError('invalid-request', 'E-mail is not allowed to these addresses.', { problems });
}

function addReads(app: App, { store }: RouteDeps): void {
  route(app, {
    at: 'GET /v1/subscriptions',
    operationId: 'listSubscriptions',
    summary: 'List the subscriptions of a project',
    description: 'Default: the project of the key, or `default`.',
    ...TAG,
    querystring: StrictObject(ProjectQuery),
    answer: 'SubscriptionList',
    problems: ['project-not-found'],
    handler: async ({ caller, query }) => {
      const asked = query.project ?? caller.project ?? DEFAULT_PROJECT;
      const { name } = await projectOf(store, caller, asked);
      return { items: (await store.subscriptions.list(name)).map(view) };
    },
  });
  route(app, {
    at: 'GET /v1/subscriptions/:id',
    operationId: 'getSubscription',
    summary: 'Get a subscription',
    ...TAG,
    params: Params,
    answer: 'Subscription',
    problems: ['not-found'],
    handler: async ({ caller, params: { id } }) => view(await subscriptionOf(store, caller, id)),
  });
  route(app, {
    at: 'GET /v1/subscriptions/:id/deliveries',
    operationId: 'listDeliveries',
    summary: 'List the last deliveries and the dead letters of a subscription',
    ...TAG,
    params: Params,
    answer: 'Deliveries',
    problems: ['not-found'],
    handler: async ({ caller, params }) => {
      const { id } = await subscriptionOf(store, caller, params.id);
      return await store.subscriptions.deliveries(id);
    },
  });
}

function addRemove(app: App, { store }: RouteDeps): void {
  route(app, {
    at: 'DELETE /v1/subscriptions/:id',
    operationId: 'removeSubscription',
    summary: 'Remove a subscription with its pending messages and dead letters',
    ...TAG,
    params: Params,
    answers: { 204: { type: 'null', description: 'Removed.' } },
    problems: ['not-found'],
    handler: async ({ caller, params }, reply) => {
      await store.subscriptions.remove(await subscriptionOf(store, caller, params.id));
      return reply.code(204).send(null);
    },
  });
}

function addSends(app: App, { store, clock }: RouteDeps): void {
  route(app, {
    at: 'POST /v1/subscriptions/:id/test',
    operationId: 'testSubscription',
    summary: 'Send a test message after the pending messages of a subscription',
    ...TAG,
    params: Params,
    body: null,
    answers: { 202: { $ref: 'MessagesQueued#' } },
    problems: ['not-found'],
    handler: async ({ caller, params }, reply) => {
      const { id, project } = await subscriptionOf(store, caller, params.id);
      const at = clock.now();
      const data = { subscription: id, project };
      const message = { id: `${id}-test-${newSubscriptionId().slice(4)}`, type: 'test', at, data };
      const messages = [{ subscription: id, message, everyMs: 0 }];
      await store.subscriptions.advance({ project, read: null, messages, waits: [] });
      return reply.code(202).send({ queued: 1 });
    },
  });
  route(app, {
    at: 'POST /v1/subscriptions/:id/resend',
    operationId: 'resendDeadLetters',
    summary: 'Send the dead letters of a subscription again',
    description:
      'They have their former ids and follow the pending messages. A subscription that is disabled sends again, also without dead letters.',
    ...TAG,
    params: Params,
    body: null,
    answers: { 202: { $ref: 'MessagesQueued#' } },
    problems: ['not-found'],
    handler: async ({ caller, params }, reply) => {
      const { id } = await subscriptionOf(store, caller, params.id);
      return reply.code(202).send({ queued: await store.subscriptions.resend(id) });
    },
  });
}
