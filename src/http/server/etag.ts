import { createHash } from 'node:crypto';
import type { FastifyContextConfig, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { RevisedKind } from '../../store/experiments/contract.ts';
import { changedSince } from '../../store/redis/revisions.ts';
import type { App, RouteDeps } from './deps.ts';
import type { RoutePolicy } from './policy.ts';
import { withHeaders, withProblems } from './responses.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The ETag of the answer, if it is the revision of the record. */
    revisionTag: string | undefined;
    /** The revision of the record whose ETag fits `If-Match`: the handler's write names it. Undefined: any will do. */
    readRevision: number | undefined;
  }
}

const CHANGING = ['PATCH', 'DELETE'];

/**
 * Whether the ETag is the revision of the record, not a digest of the answer: what else the answer tells changes every few
 * seconds, so that hardly a change of a person would meet the ETag that it was decided on. For the same reason no client is
 * told that the answer is the one that is known.
 */
function isByRevision(concurrency: RoutePolicy['concurrency']): concurrency is RevisedKind {
  return concurrency !== 'none' && concurrency !== 'digest';
}

const concurrencyOf = ({ config }: { config?: FastifyContextConfig }) =>
  config?.policy?.concurrency ?? 'none';

const IF_NONE_MATCH = {
  'if-none-match': {
    type: 'string',
    maxLength: 4096,
    description: 'Known ETags. If one matches, the response is 304.',
  },
};
const IF_MATCH = {
  'if-match': {
    type: 'string',
    maxLength: 4096,
    description:
      'ETags from GET of this path. If none matches the current record, the response is 412 `precondition-failed`.',
  },
};
const ETAG = { ETag: { type: 'string', description: 'Strong validator of this response.' } };
const REVISION_TAG = {
  ETag: {
    type: 'string',
    description:
      'Validator for If-Match. It changes only with fields that users set, not with fields that the system reports.',
  },
};
const IF_NONE_MATCH_IGNORED = {
  'if-none-match': {
    type: 'string',
    maxLength: 4096,
    description: 'Ignored, because reported fields change without a new ETag.',
  },
};

/**
 * Conditional requests on records (RFC 9110, 13). `@fastify/etag` would tag every answer, errors and POSTs included,
 * and knows neither lists of tags nor `If-Match`. With `If-Match` the revision is compared, and the write gets
 * it: the store refuses the write in the step that would change a record of another revision, so that of two changes with one ETag one is refused.
 */
export function addEtags(app: App, { store }: Pick<RouteDeps, 'store'>): void {
  app.decorateRequest('readRevision', undefined);
  app.decorateRequest('revisionTag', undefined);
  const reads = documentTagged(app);

  app.addHook('preHandler', async (request, reply) => {
    const concurrency = concurrencyOf(request.routeOptions);
    if (!isByRevision(concurrency)) return;
    // Before the record: a change between the two reads then has another ETag than the answer.
    if (!CHANGING.includes(request.method))
      request.revisionTag = tagOf(await revisionOf(store, request, concurrency));
    const wanted = request.headers['if-match'];
    if (wanted === undefined || !CHANGING.includes(request.method)) return;
    const read = reads.get(request.routeOptions.url ?? '');
    if (read === undefined) return;
    // First of all: whether there is such a record for this caller, which is all that others learn.
    await (read.handler as Handler).call(app, request, reply);
    if (wanted.trim() === '*') return;
    const revision = await revisionOf(store, request, concurrency);
    if (!tagsOf(wanted).includes(tagOf(revision))) throw changedSince();
    request.readRevision = revision;
  });

  app.addHook('onSend', async (request, reply, payload) => {
    const isRead = !CHANGING.includes(request.method) && concurrencyOf(request.routeOptions) !== 'none';
    if (!isRead || reply.statusCode !== 200 || typeof payload !== 'string') return payload;
    const etag = request.revisionTag ?? etagOf(payload);
    reply.header('etag', etag);
    const known = request.headers['if-none-match'];
    if (known === undefined || request.revisionTag !== undefined) return payload;
    // The comparison of If-None-Match is the weak one.
    const tags = tagsOf(known).map((tag) => tag.replace(/^W\//, ''));
    if (known.trim() !== '*' && !tags.includes(etag)) return payload;
    reply.code(304).removeHeader('content-type');
    return '';
  });
}

/** The GETs of records, by path. They, and PATCH and DELETE of the same paths, are documented as conditional. */
function documentTagged(app: App): ReadonlyMap<string, RouteOptions> {
  const reads = new Map<string, RouteOptions>();
  const changes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => {
    const methods = [route.method].flat();
    const concurrency = concurrencyOf(route);
    if (concurrency === 'none') return;
    if (methods.includes('GET')) {
      reads.set(route.url, route);
      documentRead(route);
    } else if (isByRevision(concurrency) && methods.some((method) => CHANGING.includes(method))) {
      changes.push(route);
      documentChange(route);
    }
  });
  app.addHook('onReady', async () => {
    for (const route of changes) {
      const read = reads.get(route.url);
      if (read === undefined || concurrencyOf(read) !== concurrencyOf(route))
        throw new TypeError(`${route.method} ${route.url}: GET of the path has another kind of record`);
    }
  });
  return reads;
}

/** The revision of the record that a request names. */
function revisionOf(
  store: RouteDeps['store'],
  { params }: FastifyRequest,
  kind: RevisedKind,
): Promise<number> {
  const [name] = Object.values(params as Record<string, string>) as [string];
  return store.revisions.get(kind, name);
}

/** A number tells nothing of the secrets of a record. */
const tagOf = (revision: number): string => `"${revision}"`;

type Handler = (this: App, request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** The strong ETag of an answer, quotes included. */
export function etagOf(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
}

/** The tags of a list as If-Match and If-None-Match have it; anything else is ignored. */
function tagsOf(header: string): string[] {
  return header.match(/(?:W\/)?"[\x21\x23-\x7e]*"/g) ?? [];
}

interface Documented {
  headers?: { properties?: object };
  response?: Record<string, unknown>;
}

function documentRead(route: RouteOptions): void {
  route.schema ??= {};
  const schema = route.schema as Documented;
  const byRevision = isByRevision(concurrencyOf(route));
  const ifNoneMatch = byRevision ? IF_NONE_MATCH_IGNORED : IF_NONE_MATCH;
  schema.headers = {
    type: 'object',
    properties: { ...schema.headers?.properties, ...ifNoneMatch },
  } as object;
  schema.response = withHeaders(schema.response ?? {}, byRevision ? REVISION_TAG : ETAG);
  if (!byRevision)
    schema.response[304] = {
      description: 'The record has not changed since the ETag.',
      headers: ETAG,
      type: 'null',
    };
}

function documentChange(route: RouteOptions): void {
  route.schema ??= {};
  const schema = route.schema as Documented;
  schema.headers = { type: 'object', properties: { ...schema.headers?.properties, ...IF_MATCH } } as object;
  schema.response = withProblems(schema.response ?? {}, ['precondition-failed']);
}
