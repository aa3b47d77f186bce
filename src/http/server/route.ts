import type { FastifyContextConfig, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { EchelonError, type ErrorCode } from '../../core/errors.ts';
import type { App } from './deps.ts';
import { conditionalHeaders, ETAG, isByRevision, REVISION_TAG } from './etag.ts';
import { keyConflicts, keyHeader, REPLAYED } from './idempotency.ts';
import { CHANGE, CREATE, READ, type RoutePolicy } from './policy.ts';
import { type Answer, problems } from './responses.ts';

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** The policy of a route that states none of its fields. */
const POLICIES: Readonly<Record<Method, RoutePolicy>> = {
  GET: READ,
  POST: CREATE,
  PATCH: CHANGE,
  DELETE: CHANGE,
};

/** An answer: the name of a shared schema, a schema, or the whole answer as OpenAPI has it. */
type Stated = string | object;

/** What a route states. The fields of its policy are optional: the method decides what it does not state. */
export interface Route<
  Params extends TSchema,
  Query extends TSchema,
  Headers extends TSchema,
  Body extends TSchema,
  Optional extends TSchema,
> extends Partial<RoutePolicy> {
  at: `${Method} /${string}`;
  /** Name in the audit log and in generated clients. */
  operationId: string;
  /** One line that stands alone. */
  summary: string;
  description?: string;
  tag: string;
  params?: Params;
  querystring?: Query;
  headers?: Headers;
  /** null: a request with a body is refused. */
  body?: Body | null;
  /** In place of `body`: a request without one is answered too. */
  optionalBody?: Optional;
  /** The answer 200. */
  answer?: Stated;
  /** The answers that are no errors, by status. */
  answers?: Readonly<Record<number, Stated>>;
  /** Errors beside those of every route. */
  problems?: readonly ErrorCode[];
  config?: FastifyContextConfig;
  options?: Pick<RouteShorthandOptions, 'exposeHeadRoute' | 'bodyLimit' | 'errorHandler'>;
  handler(
    request: FastifyRequest<{
      Params: Static<Params>;
      Querystring: Static<Query>;
      Headers: Static<Headers>;
      Body: Static<Body> | ([Optional] extends [never] ? never : Static<Optional> | undefined);
    }>,
    reply: FastifyReply,
  ): unknown;
}

/**
 * Adds a route. Policy, documented errors, the headers of repetition (Idempotency-Key) and of conditional requests follow
 * from what it states.
 */
export function route<
  Params extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Headers extends TSchema = TSchema,
  Body extends TSchema = never,
  Optional extends TSchema = never,
>(app: App, stated: Route<Params, Query, Headers, Body, Optional>): void {
  const [method, url] = stated.at.split(' ') as [Method, string];
  const { scope, audit, idempotency, concurrency, timeout } = { ...POLICIES[method], ...stated };
  const policy: RoutePolicy = { scope, audit, idempotency, concurrency, timeout };
  const handler = stated.handler as unknown as (request: FastifyRequest, reply: FastifyReply) => unknown;
  app.route({
    ...stated.options,
    method,
    url,
    config: { ...stated.config, policy },
    schema: schemaOf(method, stated as unknown as AnyRoute, policy),
    handler: stated.body === null ? withoutBody(handler) : handler,
  });
}

type AnyRoute = Route<TSchema, TSchema, TSchema, TSchema, TSchema>;

function withoutBody(handler: (request: FastifyRequest, reply: FastifyReply) => unknown): typeof handler {
  return async (request, reply) => {
    if (request.body !== undefined) throw new EchelonError('invalid-request', 'This request takes no body.');
    return handler(request, reply);
  };
}

/** The route as its requests are checked and its operation is documented. */
function schemaOf(method: Method, stated: AnyRoute, policy: RoutePolicy): object {
  const { operationId, summary, description, tag, params, querystring } = stated;
  const { scope, idempotency, concurrency } = policy;
  const byRevision = isByRevision(concurrency);
  const isChange = method === 'PATCH' || method === 'DELETE';
  const codes: ErrorCode[] = [
    ...(stated.problems ?? []),
    // A body is read, and may be too large, wherever one may be sent: also where the route wants none.
    ...(method === 'GET' ? [] : ['body-too-large' as const]),
    ...keyConflicts(idempotency),
    ...(isChange && byRevision ? ['precondition-failed' as const] : []),
  ];
  const headers = {
    ...(stated.headers as { properties?: object } | undefined)?.properties,
    ...(idempotency !== 'unsupported' && keyHeader(idempotency)),
    ...conditionalHeaders(concurrency, isChange),
  };
  const told = {
    ...(method === 'GET' && concurrency !== 'none' && (byRevision ? REVISION_TAG : ETAG)),
    ...(idempotency === 'stored' && REPLAYED),
  };
  const body = bodyOf(stated);
  return {
    operationId,
    summary,
    ...(description !== undefined && { description }),
    tags: [tag],
    security: scope === 'public' ? [] : [{ token: [scope] }, { session: [scope] }],
    ...(params !== undefined && { params }),
    ...(querystring !== undefined && { querystring }),
    ...(Object.keys(headers).length > 0 && { headers: { type: 'object', properties: headers } }),
    ...(body !== undefined && { body }),
    response: {
      ...answersOf(stated, told),
      ...(method === 'GET' && concurrency === 'digest' && { 304: UNCHANGED }),
      ...problems(codes),
    },
  };
}

const UNCHANGED = {
  description: 'The record has not changed since the ETag.',
  headers: ETAG,
  type: 'null',
};

/** By its type if it is optional, so that a request without one is not held to the schema. */
function bodyOf({ body, optionalBody, config }: AnyRoute): object | undefined {
  if (config?.file) return { content: { 'application/octet-stream': { schema: FILE } } };
  if (optionalBody !== undefined) return { content: { 'application/json': { schema: optionalBody } } };
  return body ?? undefined;
}

const FILE = { type: 'string', format: 'binary' };

function answersOf({ answer, answers, summary }: AnyRoute, headers: Record<string, object>) {
  const stated = answers ?? { 200: answer! };
  return Object.fromEntries(
    Object.entries(stated).map(([status, one]) => {
      const whole = wholeAnswer(one, summary);
      const told = { ...whole.headers, ...(/^2/.test(status) && headers) };
      return [status, { ...whole, ...(Object.keys(told).length > 0 && { headers: told }) }];
    }),
  );
}

function wholeAnswer(stated: Stated, summary: string): Answer {
  if (typeof stated === 'string') return wholeAnswer({ $ref: `${stated}#` }, summary);
  const { content, type, description = summary } = stated as Partial<Answer> & { type?: string };
  if (content !== undefined || type === 'null') return stated as Answer;
  return { description, content: { 'application/json': { schema: stated } } };
}
