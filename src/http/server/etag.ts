import { createHash } from 'node:crypto';
import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import { changedSince, type RevisedKind } from '../../store/redis/revisions.ts';
import type { App, RouteDeps } from './deps.ts';
import type { RoutePolicy } from './policy.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The ETag of the answer, if it is the revision of the record. */
    revisionTag: string | undefined;
  }
}

type Revisions = Pick<RouteDeps['store'], 'revisions'>;

/**
 * Whether the ETag is the revision of the record, not a digest of the answer: what else the answer tells changes every few
 * seconds, so that hardly a change of a person would meet the ETag that it was decided on. For the same reason no client is
 * told that the answer is the one that is known.
 */
export function isByRevision(concurrency: RoutePolicy['concurrency']): concurrency is RevisedKind {
  return concurrency !== 'none' && concurrency !== 'digest';
}

/** The ETag of an answer that has a digest, and of one of a record with revisions. */
export const ETAG = { ETag: { type: 'string', description: 'Strong validator of this response.' } };
export const REVISION_TAG = {
  ETag: {
    type: 'string',
    description:
      'Validator for If-Match. It changes only with fields that users set, not with fields that the system reports.',
  },
};

/** The headers of conditional requests that a read, or a change, takes. */
export function conditionalHeaders(
  concurrency: RoutePolicy['concurrency'],
  isChange: boolean,
): Record<string, object> {
  if (concurrency === 'none') return {};
  const tags = (description: string) => ({ type: 'string', maxLength: 4096, description });
  if (isChange)
    return {
      'if-match': tags(
        'ETags from GET of this path. If none matches the current record, the response is 412 `precondition-failed`.',
      ),
    };
  return {
    'if-none-match': tags(
      isByRevision(concurrency)
        ? 'Ignored, because reported fields change without a new ETag.'
        : 'Known ETags. If one matches, the response is 304.',
    ),
  };
}

/**
 * Tags the answers to reads of records (RFC 9110, 13). `@fastify/etag` would tag every answer, errors and POSTs included,
 * and knows neither lists of tags nor `If-Match`.
 */
export function addEtags(app: App, { store }: { store: Revisions }): void {
  app.decorateRequest('revisionTag', undefined);
  const concurrencyOf = ({ method, routeOptions }: FastifyRequest) => {
    const { policy } = (routeOptions.config ?? {}) as FastifyContextConfig;
    return method === 'GET' || method === 'HEAD' ? (policy?.concurrency ?? 'none') : 'none';
  };

  app.addHook('preHandler', async (request) => {
    const concurrency = concurrencyOf(request);
    if (!isByRevision(concurrency)) return;
    const [name] = Object.values(request.params as Record<string, string>) as [string];
    // Before the record: a change between the two reads then has another ETag than the answer.
    request.revisionTag = tagOf(await store.revisions.get(concurrency, name));
  });

  app.addHook('onSend', async (request, reply, payload) => {
    if (concurrencyOf(request) === 'none' || reply.statusCode !== 200 || typeof payload !== 'string')
      return payload;
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

/**
 * The revision of a record whose ETag fits `If-Match`, which the write must name: the store refuses the write in the step
 * that would change a record of another revision, so that of two changes with one ETag one is refused. Undefined: any will do.
 * Asked once it is known that there is such a record for this caller, which is all that others learn. Throws EchelonError
 * `precondition-failed`.
 */
export async function revisionToChange(
  store: Revisions,
  { headers }: FastifyRequest,
  record: { kind: RevisedKind; name: string },
): Promise<number | undefined> {
  const wanted = headers['if-match'];
  if (wanted === undefined || wanted.trim() === '*') return undefined;
  const revision = await store.revisions.get(record.kind, record.name);
  if (!tagsOf(wanted).includes(tagOf(revision))) throw changedSince();
  return revision;
}

/** A number tells nothing of the secrets of a record. */
const tagOf = (revision: number): string => `"${revision}"`;

/** The strong ETag of an answer, quotes included. */
export function etagOf(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
}

/** The tags of a list as If-Match and If-None-Match have it; anything else is ignored. */
function tagsOf(header: string): string[] {
  return header.match(/(?:W\/)?"[\x21\x23-\x7e]*"/g) ?? [];
}
