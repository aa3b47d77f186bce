import type { FastifyContextConfig, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { EchelonError, type ErrorCode } from '../../core/errors.ts';
import { plainSecretProblems } from '../../schemas/secrets.ts';
import type { App } from './deps.ts';
import { conditionalHeaders, ETAG, isByRevision, REVISION_TAG } from './etag.ts';
import { keyConflicts, keyHeader, REPLAYED } from './idempotency.ts';
import { type Answer, addOperation } from './operation.ts';
import { CHANGE, CREATE, READ, type RoutePolicy } from './policy.ts';

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
interface Route<
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
  /**
   * Who keeps plain secrets in the body out of the store. Default: a body with one is refused. `handler`: the handler refuses or
   * masks it. `expected`: the body holds one.
   */
  secrets?: 'handler' | 'expected';
  /** Bodies that are accepted as they stand, by name. */
  examples?: Readonly<Record<string, object>>;
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
    schema: describe(app, { method, url }, { ...(stated as unknown as AnyRoute), policy }),
    handler: withBody(stated as unknown as AnyRoute, handler),
  });
}

type AnyRoute = Route<TSchema, TSchema, TSchema, TSchema, TSchema>;

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown;

/** The handler, after its body was refused if the route takes none, or none with a secret. */
function withBody({ body, optionalBody, config, secrets }: AnyRoute, handler: Handler): Handler {
  const isChecked = (body ?? optionalBody) !== undefined && config?.file !== true && secrets === undefined;
  if (body !== null && !isChecked) return handler;
  return async (request, reply) => {
    if (body === null && request.body !== undefined)
      throw new EchelonError('invalid-request', 'This request takes no body.');
    const problems = plainSecretProblems(request.body, SHOWN_TEXTS);
    if (problems.length > 0)
      throw new EchelonError('invalid-request', 'The request holds a secret in plain text.', { problems });
    return handler(request, reply);
  };
}

const SHOWN_TEXTS = 'remove it, and replace the secret: names, notes and reasons are stored and shown';

/** The schema by which the route's requests are checked. Adds its operation to the document. */
function describe(
  app: App,
  at: { method: Method; url: string },
  stated: AnyRoute & { policy: RoutePolicy },
): object {
  const { operationId, params, querystring, policy } = stated;
  const { scope, idempotency, concurrency } = policy;
  const isChange = at.method === 'PATCH' || at.method === 'DELETE';
  const properties = {
    ...(stated.headers as { properties?: object } | undefined)?.properties,
    ...(idempotency !== 'unsupported' && keyHeader(idempotency)),
    ...conditionalHeaders(concurrency, isChange),
  };
  const headers = { type: 'object', properties };
  const body = bodyOf(stated);
  const isLimited = stated.config?.rateLimit !== false;
  addOperation(app.document, at, {
    operationId,
    summary: stated.summary,
    ...(stated.description !== undefined && { description: stated.description }),
    tags: [stated.tag],
    security: scope === 'public' ? [] : [{ token: [scope] }, { session: [scope] }],
    inputs: { path: params, query: querystring, header: headers },
    body: body && { ...body, examples: stated.examples ?? {} },
    answers: answersOf(at.method, stated),
    errors: errorsOf(at.method, stated),
    isLimited,
  });
  // An optional body is stated by its type, so that a request without one is not held to the schema.
  const checked = body?.required
    ? body.schema
    : body && { content: { [body.type]: { schema: body.schema } } };
  return {
    operationId,
    ...(params !== undefined && { params }),
    ...(querystring !== undefined && { querystring }),
    ...(Object.keys(properties).length > 0 && { headers }),
    ...(checked !== undefined && { body: checked }),
  };
}

function errorsOf(
  method: Method,
  { problems = [], policy }: AnyRoute & { policy: RoutePolicy },
): ErrorCode[] {
  const isChange = method === 'PATCH' || method === 'DELETE';
  return [
    ...problems,
    // A body is read, and may be too large, also if the route wants none.
    ...(method === 'GET' ? [] : ['body-too-large' as const]),
    ...keyConflicts(policy.idempotency),
    ...(isChange && isByRevision(policy.concurrency) ? ['precondition-failed' as const] : []),
  ];
}

const UNCHANGED: Answer = { description: 'The record has not changed since the ETag.', headers: ETAG };

function bodyOf({ body, optionalBody, config }: AnyRoute) {
  if (config?.file) return { required: false, type: 'application/octet-stream', schema: FILE };
  const schema = optionalBody ?? body ?? undefined;
  return schema && { required: optionalBody === undefined, type: 'application/json', schema };
}

const FILE = { type: 'string', format: 'binary' };

/** The answers that are no errors. */
function answersOf(method: Method, { answer, answers, summary, policy }: AnyRoute & { policy: RoutePolicy }) {
  const { concurrency, idempotency } = policy;
  const told = {
    ...(method === 'GET' && concurrency !== 'none' && (isByRevision(concurrency) ? REVISION_TAG : ETAG)),
    ...(idempotency === 'stored' && REPLAYED),
  };
  const stated = Object.entries(answers ?? { 200: answer! }).map(([status, one]) => {
    const whole = wholeAnswer(one, summary);
    return [status, { ...whole, headers: { ...whole.headers, ...(status < '300' && told) } }];
  });
  return {
    ...Object.fromEntries(stated),
    ...(method === 'GET' && concurrency === 'digest' && { 304: UNCHANGED }),
  };
}

function wholeAnswer(stated: Stated, summary: string): Answer {
  if (typeof stated === 'string') return wholeAnswer({ $ref: `${stated}#` }, summary);
  const { content, type, description = summary } = stated as Partial<Answer> & { type?: string };
  if (content !== undefined || type === 'null') return stated as Answer;
  return { description, content: { 'application/json': { schema: stated } } };
}
