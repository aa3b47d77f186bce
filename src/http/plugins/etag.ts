import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { VersionedKind } from '../../store/records-store.ts';
import { changedSince } from '../../store/versions.ts';
import type { App, RouteDeps } from '../deps.ts';
import { withHeaders, withProblems } from '../responses.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * On the GET of one record whose handler returns it: its answer carries an ETag. Where PATCH and DELETE of the same
     * path know `If-Match`, the kind of the record, whose id or name is the path's one parameter.
     */
    etag?: boolean | VersionedKind;
  }
  interface FastifyRequest {
    /** The version of the record whose ETag fits `If-Match`: the handler's write names it. Undefined: any will do. */
    readVersion: string | undefined;
  }
}

const CHANGING = ['PATCH', 'DELETE'];

const IF_NONE_MATCH = {
  'if-none-match': {
    type: 'string',
    maxLength: 4096,
    description: 'ETags that are known: answered 304 where one fits',
  },
};
const IF_MATCH = {
  'if-match': {
    type: 'string',
    maxLength: 4096,
    description:
      'ETags of GET on this path: refused with 412 where none of them is that of the present record',
  },
};
const ETAG = { ETag: { type: 'string', description: 'Strong validator of this answer' } };

/**
 * Conditional requests on records (RFC 9110, 13). `@fastify/etag` would tag every answer, errors and POSTs included,
 * and knows neither lists of tags nor `If-Match`. With `If-Match` the version of the record is read before the record is,
 * and the write is told it: the store refuses it in the step that would change a record of another version, so that of
 * two changes with one ETag one is refused.
 */
export function addEtags(app: App, { store }: Pick<RouteDeps, 'store'>): void {
  app.decorateRequest('readVersion', undefined);
  const reads = new Map<string, RouteOptions>();
  const changes = new Map<string, RouteOptions[]>();
  app.addHook('onRoute', (route) => {
    const methods = [route.method].flat();
    if (route.config?.etag && methods.includes('GET')) {
      reads.set(route.url, route);
      documentRead(route);
      for (const change of changes.get(route.url) ?? []) documentChange(change, route);
    } else if (methods.some((method) => CHANGING.includes(method))) {
      changes.set(route.url, [...(changes.get(route.url) ?? []), route]);
      const read = reads.get(route.url);
      if (read !== undefined) documentChange(route, read);
    }
  });

  app.addHook('preHandler', async (request, reply) => {
    const wanted = request.headers['if-match'];
    if (wanted === undefined || !CHANGING.includes(request.method)) return;
    const read = reads.get(request.routeOptions.url ?? '');
    if (read === undefined) return;
    const [name] = Object.values(request.params as Record<string, string>);
    // Before the record: what changes between the two reads is then another version than this.
    const version = await store.recordVersion(read.config?.etag as VersionedKind, name!);
    const record: unknown = await (read.handler as Handler).call(app, request, reply);
    if (wanted.trim() === '*') return;
    if (!tagsOf(wanted).includes(etagOf(JSON.stringify(record)))) throw changedSince();
    request.readVersion = version;
  });

  app.addHook('onSend', async (request, reply, payload) => {
    if (!request.routeOptions.config?.etag || reply.statusCode !== 200 || typeof payload !== 'string')
      return payload;
    const etag = etagOf(payload);
    reply.header('etag', etag);
    const known = request.headers['if-none-match'];
    if (known === undefined) return payload;
    // The comparison of If-None-Match is the weak one.
    const tags = tagsOf(known).map((tag) => tag.replace(/^W\//, ''));
    if (known.trim() !== '*' && !tags.includes(etag)) return payload;
    reply.code(304).removeHeader('content-type');
    return '';
  });
}

type Handler = (this: App, request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** The strong ETag of an answer, quotes included. */
export function etagOf(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
}

/** The tags of a list as If-Match and If-None-Match have it; what is no tag is passed over. */
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
  schema.headers = {
    type: 'object',
    properties: { ...schema.headers?.properties, ...IF_NONE_MATCH },
  } as object;
  schema.response = {
    ...withHeaders(schema.response ?? {}, ETAG),
    304: { description: 'It is the answer that is known', headers: ETAG, type: 'null' },
  };
}

function documentChange(route: RouteOptions, read: RouteOptions): void {
  if (typeof read.config?.etag !== 'string')
    throw new TypeError(`${route.url}: etag must name the kind of the record`);
  route.schema ??= {};
  const schema = route.schema as Documented;
  schema.headers = { type: 'object', properties: { ...schema.headers?.properties, ...IF_MATCH } } as object;
  schema.response = withProblems(schema.response ?? {}, ['precondition-failed']);
}
