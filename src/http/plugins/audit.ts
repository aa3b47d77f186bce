import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuditEntry } from '../../schemas/audit.ts';
import type { AuditInput } from '../../store/access-store.ts';
import type { App, RouteDeps } from '../deps.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** It is recorded though it is a GET. */
    audit?: true;
  }
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Refusals recorded in a minute at most; the others are counted. Who guesses must not fill the log. */
const REFUSALS_A_MINUTE = 60;

const TOKEN_IN_QUERY = /[?&](?:access_token|api_key|apikey|token|key|auth|authorization)=/i;

/**
 * Records every request that may change something once it is authorized, whatever comes of it, and every refusal (401,
 * 403) of any request. What a client was told is recorded: the entry is written before the answer leaves. Where the
 * store does not take it, the answer goes out all the same, and the entry is in the log of this process.
 */
export function addAudit(app: App, { store, clock, log }: RouteDeps): void {
  const refusals = { minute: 0, count: 0, passedOver: 0 };

  /** Undefined: this refusal is one too many. Else how many were passed over since the last one. */
  function admit(now: number): number | undefined {
    const minute = Math.floor(now / 60_000);
    if (minute !== refusals.minute) Object.assign(refusals, { minute, count: 0 });
    if (refusals.count >= REFUSALS_A_MINUTE) {
      refusals.passedOver += 1;
      return undefined;
    }
    refusals.count += 1;
    const { passedOver } = refusals;
    refusals.passedOver = 0;
    return passedOver;
  }

  app.addHook('onSend', async (request, reply, payload) => {
    const refused = reply.statusCode === 401 || reply.statusCode === 403;
    if (!refused && !isChange(request, reply)) return;
    const passedOver = refused ? admit(clock.now()) : 0;
    if (passedOver === undefined) return;
    const entry = { ...entryOf(request, reply), code: codeOf(payload), note: noteOf(request, passedOver) };
    const written = (async () => store.audit(entry))().catch((err: unknown) => {
      log.error({ err, audit: entry }, 'an entry of the audit log was not stored');
    });
    // Where the store is away, the answer says so already.
    if (reply.statusCode < 500 && !refused) await written;
  });
}

function isChange(request: FastifyRequest, reply: FastifyReply): boolean {
  if (request.is404 || reply.statusCode === 429) return false;
  const { audit, idempotency } = request.routeOptions.config;
  if (idempotency === 'none' || (SAFE_METHODS.has(request.method) && !audit)) return false;
  return request.caller !== null && request.caller.id !== '';
}

function entryOf(request: FastifyRequest, reply: FastifyReply): Omit<AuditInput, 'code' | 'note'> {
  const { caller } = request;
  const known = caller !== null && caller.id !== '';
  return {
    caller: known ? caller.id : null,
    name: known ? caller.name : null,
    project: known ? caller.project : null,
    action: actionOf(request),
    target: targetOf(request, reply),
    status: reply.statusCode,
    outcome: outcomeOf(reply.statusCode),
    requestId: request.id,
    address: request.ip,
  };
}

function actionOf({ method, routeOptions }: FastifyRequest): string {
  const schema = routeOptions.schema as { operationId?: string } | undefined;
  return schema?.operationId ?? `${method} ${routeOptions.url ?? 'unknown path'}`;
}

/** What was made, by the answer's Location; else what the path names. */
function targetOf(request: FastifyRequest, reply: FastifyReply): string | null {
  const location = reply.getHeader('location');
  if (reply.statusCode < 300 && typeof location === 'string')
    return location.split('/').at(-1)!.slice(0, 100);
  const params = Object.values((request.params ?? {}) as Record<string, string>);
  return params.length === 0 || request.is404 ? null : params.join('/').slice(0, 100);
}

function outcomeOf(status: number): AuditEntry['outcome'] {
  if (status >= 500) return 'failed';
  return status >= 400 ? 'refused' : 'done';
}

function noteOf({ url }: FastifyRequest, passedOver: number): string | null {
  const notes = [
    ...(TOKEN_IN_QUERY.test(url) ? ['a token seems to have come in the query, where it is not taken'] : []),
    ...(passedOver > 0 ? [`${passedOver} refusals before this one were not recorded`] : []),
  ];
  return notes.length === 0 ? null : notes.join('; ');
}

/** The code of the problem document that is answered. */
function codeOf(payload: unknown): string | null {
  if (typeof payload !== 'string') return null;
  return /^\{"type":"[^"]*","title".*?,"code":"([a-z-]+)"/.exec(payload)?.[1] ?? null;
}
