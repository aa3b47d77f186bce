import { createHash, createHmac } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EchelonError, type ErrorCode } from '../../core/errors.ts';
import { holderOf } from '../../core/scopes.ts';
import { canonicalJson } from '../../schemas/json.ts';
import type { AnswerClaim, Idempotency, KeptAnswer } from '../../store/access/answers.ts';
import type { App, RouteDeps } from './deps.ts';
import type { RoutePolicy } from './policy.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The claim under which this request is answered; null: it has no key that is kept here. */
    answerClaim: { name: string; token: string } | null;
  }
}

/** How long an answer is kept. */
const KEPT_MS = 24 * 3600 * 1000;
/** Beyond the time after which a request is given up, so that two never work on one key. */
const CLAIM_MS = 60_000;
/** Longer answers are not kept. */
const MAX_BYTES = 64 * 1024;
/** Longer refusals are not kept: the same request is refused again, and made nothing. */
const MAX_REFUSAL_BYTES = 2048;
/** Refusals that say nothing of the request itself. */
const PASSING = new Set([401, 403, 408, 413, 429]);
/** Headers that a repetition also gets. */
const TOLD = ['content-type', 'location'];

const EFFECT = {
  stored:
    'A request that is repeated with its key within 24 hours, by the same caller, is answered as the first one was, and not carried out again (`Idempotency-Replayed: true`). Faults (5xx) are not kept. While the first one is being carried out, a repetition is answered 409 `idempotency-in-progress`.',
  own: 'Key that identifies the request. Repeating the request with the same key and body has no further effect and returns the first response.',
  ignored: 'Accepted without effect, because the request stores nothing.',
  secret:
    'A request that is repeated with its key within 24 hours, by the same caller, is not carried out again: it is answered 409 `idempotency-conflict`, since the first answer carried a secret, which is not kept',
} as const;

const OWN_CONFLICTS: readonly ErrorCode[] = ['idempotency-conflict'];
const CONFLICTS: readonly ErrorCode[] = [...OWN_CONFLICTS, 'idempotency-in-progress', 'store-full'];

const KEY = '^[\\x21-\\x7e]{1,255}$';

type Effect = RoutePolicy['idempotency'];

/** The header of a route on which a key has this effect. */
export function keyHeader(effect: Exclude<Effect, 'unsupported'>): Record<string, object> {
  return { 'idempotency-key': { type: 'string', pattern: KEY, description: EFFECT[effect] } };
}

/** What a request with a key may be refused for. */
export function keyConflicts(effect: Effect): readonly ErrorCode[] {
  if (effect === 'unsupported' || effect === 'ignored') return [];
  return effect === 'own' ? OWN_CONFLICTS : CONFLICTS;
}

/** The header of an answer that is repeated. */
export const REPLAYED = {
  'Idempotency-Replayed': {
    type: 'string',
    description: '`true` if this is the response to an earlier request with the same key.',
  },
};

/**
 * An Idempotency-Key on every POST under /v1: if the route does not do better itself, its
 * answer is stored for repetitions of the request. Keys belong to their caller. One of several equal requests at once is
 * carried out; the others get `idempotency-in-progress`.
 */
export function addIdempotency(app: App, { store, log }: RouteDeps): void {
  app.decorateRequest('answerClaim', null);
  app.addHook('preHandler', async (request, reply) => {
    const effect = request.routeOptions.config?.policy?.idempotency;
    if (effect !== 'stored' && effect !== 'secret') return;
    const known = idempotencyOf(request);
    if (known === undefined) return;
    const claim = await store.answers.claim({ ...known, leaseMs: CLAIM_MS });
    if (claim.outcome === 'claimed') request.answerClaim = { name: known.name, token: claim.token };
    else return repeat(claim, reply);
    return undefined;
  });

  app.addHook('onSend', async (request, reply, payload) => {
    const claim = request.answerClaim;
    if (claim === null) return payload;
    request.answerClaim = null;
    const answer = answerToKeep(request, reply, payload);
    const ended = answer
      ? store.answers.keep({ ...claim, caller: holderOf(request.caller), answer, keepMs: KEPT_MS })
      : store.answers.drop(claim);
    // What was done is done: a repetition is then told to come back until the claim has run out.
    await ended.catch((err: unknown) => log.warn({ err }, 'an answer could not be kept for its repetition'));
    return payload;
  });
}

/**
 * The caller's key and the request, as the store knows them; undefined: the request has no Idempotency-Key. The digest
 * takes the key in, so that it says nothing about a secret in the body to a reader of the store who lacks the key.
 */
export function idempotencyOf({
  headers,
  caller,
  method,
  url,
  body,
}: FastifyRequest): Idempotency | undefined {
  const key = headers['idempotency-key'];
  if (typeof key !== 'string') return undefined;
  const name = createHash('sha256')
    .update(JSON.stringify([caller.id, key]))
    .digest('hex');
  const digest = createHmac('sha256', key)
    .update(canonicalJson([method, url, body ?? null]))
    .digest('hex');
  return { name, digest };
}

function repeat(claim: Exclude<AnswerClaim, { outcome: 'claimed' }>, reply: FastifyReply): FastifyReply {
  if (claim.outcome === 'conflict') {
    throw new EchelonError(
      'idempotency-conflict',
      'The Idempotency-Key was used for a different request. Use a new key.',
    );
  }
  if (claim.outcome === 'running') {
    throw new EchelonError(
      'idempotency-in-progress',
      'The first request with this Idempotency-Key is in progress. Repeat the request in a moment.',
    );
  }
  if (claim.outcome === 'full') {
    throw new EchelonError(
      'store-full',
      'Redis is nearly full and stores no more responses. Send the request without an Idempotency-Key, or retry later.',
    );
  }
  const { status, headers, body, withheld } = claim.answer;
  if (withheld) {
    throw new EchelonError(
      'idempotency-conflict',
      'This request was already carried out. Its response held a secret and was not stored. Revoke the created key, and use a new Idempotency-Key.',
    );
  }
  return reply.code(status).headers(headers).header('idempotency-replayed', 'true').send(body);
}

/** The answer as it is kept; undefined: another try may be answered differently. */
function answerToKeep(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): KeptAnswer | undefined {
  const status = reply.statusCode;
  const text = payload === undefined || payload === null ? '' : payload;
  if (typeof text !== 'string' || Buffer.byteLength(text) > MAX_BYTES) return undefined;
  if (status >= 400 && (text.length > MAX_REFUSAL_BYTES || !isFinal(status, text))) return undefined;
  if (status < 400 && request.routeOptions.config.policy?.idempotency === 'secret') {
    return { status, headers: {}, body: '', withheld: true };
  }
  const headers = TOLD.flatMap((name) => {
    const value = reply.getHeader(name);
    return value === undefined ? [] : [[name, String(value)] as const];
  });
  return { status, headers: Object.fromEntries(headers), body: text };
}

/** A refusal that the same request will always get; all of ours are problem documents. */
function isFinal(status: number, text: string): boolean {
  if (status >= 500 || PASSING.has(status)) return false;
  return (JSON.parse(text) as { retry?: boolean }).retry === false;
}
