import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasScope } from '../../core/scopes.ts';
import type { AuditEntry } from '../../schemas/audit.ts';
import type { AuditInput } from '../../store/access/audit.ts';
import type { App, RouteDeps } from './deps.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Its entry was written already, in one step with what it did; or it repeats a request that has one. */
    audited: boolean;
    /** What its entry names as the target; null: what was made, else what the path names. */
    auditTarget: string | null;
  }
}

/** Refusals of one caller, or of all who are none, recorded in a minute at most: guesses must not push out the rest. */
const REFUSALS_A_MINUTE = 60;

const TOKEN_IN_QUERY = /[?&](?:access_token|api_key|apikey|token|key|auth|authorization)=/i;

/**
 * Records every request that may change something once it is authorized, whatever comes of it, and every refusal (401,
 * 403) of any request. Every confirmed change is recorded: its entry is written before the answer leaves, or in
 * one step with what was done (`audited`). If the store does not take it, the answer is sent all the same, and the
 * entry is in the log of this process.
 */
export function addAudit(app: App, { store, clock, log }: RouteDeps): void {
  const admit = createAdmission();
  app.decorateRequest('audited', false);
  app.decorateRequest('auditTarget', null);

  app.addHook('onSend', async (request, reply, payload) => {
    // A repetition that is answered as the first request was did nothing.
    if (request.audited || reply.hasHeader('idempotency-replayed')) return;
    const refused = reply.statusCode === 401 || reply.statusCode === 403;
    if (!refused && !isChange(request, reply)) return;
    const refusedTo = reply.statusCode >= 400 ? (request.caller?.id ?? '') : undefined;
    const skipped = refusedTo === undefined ? 0 : admit(refusedTo, clock.now());
    if (skipped === undefined) return;
    const did = { status: reply.statusCode, target: targetOf(request, reply), code: codeOf(payload) };
    const entry = auditEntry(request, did, skipped);
    const administrative = isAdministrative(request);
    const written = (async () => store.audit.record(entry, { administrative }))().catch((err: unknown) => {
      log.error({ err, audit: entry }, 'an entry of the audit log was not stored');
    });
    // A refusal need not wait: it changed nothing, and the store may be away.
    if (reply.statusCode < 400) await written;
  });
}

/**
 * Says of each refusal whether it is recorded: undefined if there were too many for this caller ('' for anonymous ones) in
 * this minute, else how many of all callers were skipped since the last one.
 */
function createAdmission(): (caller: string, now: number) => number | undefined {
  const counts = new Map<string, number>();
  let [minute, skipped] = [0, 0];
  return (caller, now) => {
    const current = Math.floor(now / 60_000);
    if (current !== minute) counts.clear();
    minute = current;
    const count = counts.get(caller) ?? 0;
    if (count >= REFUSALS_A_MINUTE) {
      skipped += 1;
      return undefined;
    }
    counts.set(caller, count + 1);
    const reported = skipped;
    skipped = 0;
    return reported;
  };
}

/** Whether an administrator did what only administrators may; what one merely asks for in vain is like that of others. */
function isAdministrative({ caller, routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.policy?.scope === 'admin' && caller !== null && hasScope(caller, 'admin');
}

function isChange(request: FastifyRequest, reply: FastifyReply): boolean {
  if (request.is404 || reply.statusCode === 429) return false;
  if (!request.routeOptions.config.policy?.audit) return false;
  return request.caller !== null && request.caller.id !== '';
}

/**
 * The entry of a request that is answered with this status, did this to `target` and, if it was refused, got
 * this `code`; `skipped` refusals before it were not recorded.
 */
export function auditEntry(
  request: FastifyRequest,
  did: Pick<AuditInput, 'status' | 'target'> & { code?: string | null },
  skipped = 0,
): AuditInput {
  const { caller } = request;
  const known = caller !== null && caller.id !== '';
  return {
    caller: known ? caller.id : null,
    name: known ? caller.name : null,
    project: known ? caller.project : null,
    action: actionOf(request),
    target: did.target,
    status: did.status,
    outcome: outcomeOf(did.status),
    requestId: request.id,
    address: request.ip,
    code: did.code ?? null,
    note: noteOf(request, skipped),
  };
}

function actionOf({ method, routeOptions }: FastifyRequest): string {
  const schema = routeOptions.schema as { operationId?: string } | undefined;
  return schema?.operationId ?? `${method} ${routeOptions.url ?? 'unknown path'}`;
}

/** What the route says; else what was made, by the answer's Location; else what the path names. */
function targetOf(request: FastifyRequest, reply: FastifyReply): string | null {
  if (request.auditTarget !== null) return request.auditTarget;
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

function noteOf({ url }: FastifyRequest, skipped: number): string | null {
  const notes = [
    ...(TOKEN_IN_QUERY.test(url)
      ? ['the query seems to contain a token; tokens in queries are ignored']
      : []),
    ...(skipped > 0 ? [`${skipped} refusals before this one were not recorded`] : []),
  ];
  return notes.length === 0 ? null : notes.join('; ');
}

/** The code of the problem document that is answered. */
function codeOf(payload: unknown): string | null {
  if (typeof payload !== 'string') return null;
  return /^\{"type":"[^"]*","title".*?,"code":"([a-z-]+)"/.exec(payload)?.[1] ?? null;
}
